#include "session/kernel_search.h"

#include "elf/slide.h"

namespace ringside::session {
namespace {

// After so many looks a file that covers the running code is taken for the kernel, whatever the
// comparison says: kernels may rewrite themselves more than we know.
constexpr unsigned kTries = 8;

bool covers(const elf::ElfFile& file, std::uint64_t load_bias, GuestVirt pc) {
  return file.is_code({pc.value - load_bias});
}

// A kernel of the upper half runs in the lower one only until it has turned on its own page tables:
// what is found there would not stay there.
bool is_too_early(const elf::ElfFile& file, GuestVirt pc) {
  const std::uint64_t upper_half = file.is_64() ? 1ull << 63 : 1u << 31;
  const bool linked_high =
      !file.segments().empty() && file.segments().front().address.value >= upper_half;
  return linked_high && pc.value < upper_half;
}

}  // namespace

Result<std::optional<FoundKernel>> KernelSearch::look(GuestVirt pc, const elf::GuestReader& read) {
  ++tries_;
  if (request_.file) return look_for_file(pc, read);
  return std::nullopt;
}

Result<std::optional<FoundKernel>> KernelSearch::at(std::uint64_t load_bias,
                                                    const elf::GuestReader& read) {
  RINGSIDE_ASSIGN(identity_, elf::check_identity(*request_.file, load_bias, read));
  const elf::Sameness sameness = identity_->sameness;
  const bool names_differ =
      sameness == elf::Sameness::kDifferent && identity_->evidence != elf::kTextEvidence;
  // Code runs there, so that memory which cannot be read will not be readable later either.
  const bool nothing_to_compare =
      sameness == elf::Sameness::kUnreadable || sameness == elf::Sameness::kNoEvidence;
  if (sameness != elf::Sameness::kSame && !names_differ && !nothing_to_compare && tries_ < kTries)
    return std::nullopt;
  return FoundKernel{{1, kKernelImage, request_.file, load_bias}, *identity_};
}

Result<std::optional<FoundKernel>> KernelSearch::look_for_file(GuestVirt pc,
                                                               const elf::GuestReader& read) {
  const elf::ElfFile& file = *request_.file;
  const std::uint64_t expected = request_.load_bias.value_or(0);
  if (covers(file, expected, pc)) {
    RINGSIDE_ASSIGN(auto found, at(expected, read));
    if (found) return found;
  }
  if (request_.load_bias || is_too_early(file, pc)) return std::nullopt;
  RINGSIDE_ASSIGN(const auto slide, elf::find_slide(file, pc, read));
  if (!slide || *slide == expected) return std::nullopt;
  return at(*slide, read);
}

std::string KernelSearch::explain() const {
  if (tries_ == 0) return {};
  if (!request_.file)
    return "no kernel was found in the guest's memory, so kernel stacks are addresses only; give "
           "the kernel's file with --kernel";
  if (identity_) return identity_->explain(request_.file->name());
  return fmt::format(
      "the kernel that runs in the guest is not {}: its code is nowhere around the code that runs",
      request_.file->name());
}

}  // namespace ringside::session
