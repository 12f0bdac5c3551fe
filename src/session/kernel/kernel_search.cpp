#include "session/kernel/kernel_search.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "session/kernel/kernel_scan.h"

namespace ringside::session {
namespace {

using kernel_image::MatchResult;

// After so many looks a file of which memory has similar code is reported as another build.
constexpr unsigned kTries = 8;

// So many looks come before other files are looked for, since firmware runs first.
constexpr unsigned kMisses = 8;

// Reading all of a kernel through a gdb stub takes a second; the guest may run none that we know. A
// few pages, such as arm64's trampoline, show nothing and cost little.
constexpr std::uint64_t kLeastKernel = 1 << 20;  // bytes
constexpr unsigned kWholeScan = 6;
constexpr unsigned kPartScan = 1;
constexpr unsigned kMostScans = 3 * kWholeScan;

std::uint64_t upper_half(Arch arch) {
  return std::uint64_t{1} << (8 * arch::roles_of(arch).pointer_size - 1);
}

bool covers(const elf::ElfFile& file, std::uint64_t load_bias, GuestVirt pc) {
  return file.is_code({pc.value - load_bias});
}

// A kernel of the upper half runs in the lower one only until it has turned on its own page tables:
// what is found there would not stay there.
bool is_too_early(const elf::ElfFile& file, GuestVirt pc) {
  const std::uint64_t limit = upper_half(file.arch());
  return !file.segments().empty() && file.segments().front().address.value >= limit &&
         pc.value < limit;
}

}  // namespace

class KernelSearch::Background {
 public:
  explicit Background(std::function<KernelFiles()> find)
      : files_(std::async(std::launch::async, std::move(find))) {}

  [[nodiscard]] bool is_ready() const {
    return files_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  [[nodiscard]] KernelFiles take() { return files_.get(); }

 private:
  std::future<KernelFiles> files_;
};

KernelSearch::KernelSearch(KernelRequest request) : request_(std::move(request)) {}
KernelSearch::~KernelSearch() = default;

void KernelSearch::gather_more() {
  if (request_.find_more) more_ = std::make_unique<Background>(std::move(request_.find_more));
  request_.find_more = nullptr;
  if (!more_ || !more_->is_ready()) return;
  for (auto& file : more_->take()) request_.candidates.push_back(std::move(file));
  more_.reset();
}

void KernelSearch::start_over() {
  is_later_boot_ = has_begun_again_ = true;
  tries_ = misses_ = scans_ = 0;
  probed_ = compared_ = false;
  identity_.reset();
}

Result<std::optional<FoundKernel>> KernelSearch::poll_later_boot(Arch arch, GuestVirt pc,
                                                                 VirtualMemory& memory) {
  const bool needs_file = is_given();
  const bool was_later_boot = is_later_boot_;
  if (!has_begun_again_) start_over();
  is_later_boot_ = true;
  auto found = poll(arch, pc, memory);
  const bool is_proved = found && *found && (*found)->identity.sameness == MatchResult::kSame &&
                         !(needs_file && (*found)->image.file->name().empty());
  if (found && !is_proved) found->reset();
  is_later_boot_ = was_later_boot || is_proved;
  return found;
}

bool KernelSearch::looks_elsewhere() const { return misses_ > kMisses; }

bool KernelSearch::has_code_at(GuestVirt pc) const {
  if (request_.file && covers(*request_.file, request_.load_bias.value_or(0), pc)) return true;
  return std::any_of(request_.candidates.begin(), request_.candidates.end(),
                     [pc](const auto& file) { return covers(*file, 0, pc); });
}

Result<std::optional<FoundKernel>> KernelSearch::poll(Arch arch, GuestVirt pc,
                                                      VirtualMemory& memory) {
  probed_ = true;
  compared_ = has_scanned_ = false;
  if (request_.file) {
    RINGSIDE_ASSIGN(auto found, probe_file(pc, memory));
    if (found && (is_given() || found->identity.sameness != MatchResult::kDifferent)) return found;
    if (is_given()) return std::nullopt;
    ++misses_;
    if (looks_elsewhere()) gather_more();
  }
  RINGSIDE_ASSIGN(auto found, probe_candidate(nullptr, pc, memory));
  const bool is_other_kernel = is_later_boot_ && looks_elsewhere();
  if (found || (request_.file && !is_other_kernel)) return found;
  return probe_memory(arch, pc, memory);
}

Result<std::optional<FoundKernel>> KernelSearch::prove(GuestVirt at, VirtualMemory& memory) const {
  const bool may_move = !request_.load_bias || is_later_boot_;
  if (request_.file && may_move && !is_too_early(*request_.file, at)) {
    RINGSIDE_ASSIGN(const auto votes, kernel_image::votes_around(*request_.file, at, memory));
    RINGSIDE_ASSIGN(auto found, place_candidate(request_.file, votes, at, memory));
    if (found) return found;
  }
  return probe_candidate(nullptr, at, memory);
}

Result<std::optional<FoundKernel>> KernelSearch::prove_code(Arch arch, GuestVirt at,
                                                            VirtualMemory& memory) {
  RINGSIDE_ASSIGN(auto found, prove(at, memory));
  return found || request_.file || has_scanned_ ? std::move(found) : probe_memory(arch, at, memory);
}

Result<std::optional<FoundKernel>> KernelSearch::poll_other(const elf::ElfFile& known, GuestVirt pc,
                                                            VirtualMemory& memory) {
  if (is_given()) return std::nullopt;
  gather_more();
  return probe_candidate(&known, pc, memory);
}

// The file whose code runs at `pc`, if memory has all of its code. If two similar builds match, the
// more similar one is taken.
Result<std::optional<FoundKernel>> KernelSearch::probe_candidate(const elf::ElfFile* but,
                                                                 GuestVirt pc,
                                                                 VirtualMemory& memory) const {
  const auto share = [](const FoundKernel& found) {
    return found.identity.evidence == kernel_image::kTextEvidence ? found.identity.equal_share
                                                                  : 1.0;
  };
  std::optional<FoundKernel> best;
  for (const auto& file : request_.candidates) {
    const bool is_known = but != nullptr && file->name() == but->name();
    if (is_known || is_too_early(*file, pc)) continue;
    RINGSIDE_ASSIGN(auto votes, kernel_image::votes_around(*file, pc, memory));
    std::erase(votes.possible, 0);
    votes.possible.insert(votes.possible.begin(), 0);
    RINGSIDE_ASSIGN(auto found, place_candidate(file, votes, pc, memory));
    if (found && (!best || share(*found) > share(*best))) best = std::move(found);
  }
  return best;
}

Result<std::optional<FoundKernel>> KernelSearch::place_candidate(
    const std::shared_ptr<const elf::ElfFile>& file, const kernel_image::SlideVotes& votes,
    GuestVirt pc, VirtualMemory& memory) {
  constexpr std::size_t kPieces = 256;
  constexpr std::size_t kLeastText = 64;  // bytes that show something
  for (const std::uint64_t bias : votes.possible) {
    if (!covers(*file, bias, pc)) continue;
    RINGSIDE_ASSIGN(kernel_image::Identity identity,
                    kernel_image::check_identity(*file, bias, memory, kPieces, pc));
    const bool shows =
        identity.evidence != kernel_image::kTextEvidence || identity.compared >= kLeastText;
    if (identity.sameness == MatchResult::kSame && shows)
      return FoundKernel{{1, elf::kKernelImage, file, bias}, std::move(identity)};
  }
  return std::nullopt;
}

Result<std::optional<FoundKernel>> KernelSearch::probe_memory(Arch arch, GuestVirt pc,
                                                              VirtualMemory& memory) {
  if (pc.value < upper_half(arch) || scans_ >= kMostScans) return std::nullopt;
  RINGSIDE_ASSIGN(auto scanned, kernel_in_memory(arch, pc, memory));
  const bool is_whole = scanned.bytes >= kLeastKernel;
  scans_ += is_whole ? kWholeScan : kPartScan;
  has_scanned_ = has_scanned_ || is_whole;
  if (!scanned.file) return std::nullopt;
  return FoundKernel{
      {1, elf::kKernelImage, std::move(scanned.file), 0},
      {.sameness = MatchResult::kSame, .evidence = {}, .in_file = {}, .in_memory = {}}};
}

// The file at a place; nothing where it is not, or is not to be judged yet.
Result<std::optional<FoundKernel>> KernelSearch::at(std::uint64_t load_bias, GuestVirt pc,
                                                    VirtualMemory& memory) {
  constexpr std::size_t kPieces = 16;
  compared_ = true;
  ++tries_;
  RINGSIDE_ASSIGN(identity_,
                  kernel_image::check_identity(*request_.file, load_bias, memory, kPieces, pc));
  const MatchResult sameness = identity_->sameness;
  const bool names_differ =
      sameness == MatchResult::kDifferent && identity_->evidence != kernel_image::kTextEvidence;
  // Code runs there, so that memory which cannot be read will not be readable later either.
  const bool nothing_to_compare =
      sameness == MatchResult::kUnreadable || sameness == MatchResult::kNoEvidence;
  const bool is_other_build = sameness == MatchResult::kDifferent && tries_ >= kTries;
  if (sameness != MatchResult::kSame && !names_differ && !nothing_to_compare && !is_other_build)
    return std::nullopt;
  return FoundKernel{{1, elf::kKernelImage, request_.file, load_bias}, *identity_};
}

Result<std::optional<FoundKernel>> KernelSearch::probe_file(GuestVirt pc, VirtualMemory& memory) {
  const elf::ElfFile& file = *request_.file;
  const std::uint64_t expected = request_.load_bias.value_or(0);
  const bool may_not_move = request_.load_bias && !is_later_boot_;
  std::optional<FoundKernel> unreadable;
  if (covers(file, expected, pc)) {
    RINGSIDE_ASSIGN(auto found, at(expected, pc, memory));
    // Where the kernel has moved by less than its length, its code is there, too.
    const bool is_sure = may_not_move || identity_->sameness != MatchResult::kUnreadable;
    if (found && is_sure) return found;
    unreadable = std::move(found);
  }
  if (may_not_move || is_too_early(file, pc)) return std::nullopt;
  RINGSIDE_ASSIGN(auto votes, kernel_image::votes_around(file, pc, memory));
  std::erase(votes.possible, expected);
  RINGSIDE_ASSIGN(auto proved, place_candidate(request_.file, votes, pc, memory));
  if (proved) return proved;
  if (!votes.likely || *votes.likely == expected) return unreadable;
  RINGSIDE_ASSIGN(auto found, at(*votes.likely, pc, memory));
  if (identity_->sameness != MatchResult::kUnreadable) return found;
  // A few pages of the kernel alone: another mapping of them, such as arm64's trampoline, by which
  // user mode enters the kernel. The next code that runs shows more.
  compared_ = false;
  --tries_;
  return std::nullopt;
}

}  // namespace ringside::session
