#include "session/kernel/kernel_watch.h"

#include <algorithm>
#include <utility>

#include "arch/arch_info.h"
#include "findings/findings.h"
#include "session/kernel/firmware_code.h"
#include "session/kernel/kernel_memory.h"
#include "session/kernel/stack_words.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kTryAgainAfterNs = 250'000'000;
constexpr std::uint64_t kLongestPatienceNs = 8'000'000'000;
constexpr std::uint64_t kCandidatePatienceNs = 1'000'000'000;
constexpr std::uint64_t kCodeIntervalNs = 1'000'000'000;
constexpr std::uint64_t kGatheringNs = 10'000'000;  // files are looked for
constexpr unsigned kEagerTries = 8;
// That do not find a given file: about 0.7 s, and then its kernel is expected to be another one.
constexpr unsigned kTriesOfGivenFile = kEagerTries + 3;
// To find in memory the kernel under which user code runs.
constexpr unsigned kTriesWithUserCode = 3;

std::optional<GuestVirt> pc_of(const wire::Capture& capture) {
  const std::uint8_t pc = arch::roles_of(capture.arch).pc;
  return capture.registers.has(pc) ? std::optional(GuestVirt{capture.registers.get(pc)})
                                   : std::nullopt;
}

// Where the kernel is waited for, another adapter follows: the processes that the user has named
// are that one's to count.
std::unique_ptr<guestos::Adapter> make_first_adapter(const KernelRequest& request, Arch machine) {
  guestos::AdapterOptions options = request.system;
  if (!request.file) return guestos::make_adapter(options, machine);
  options.processes.clear();
  options.user_program.reset();
  return guestos::make_adapter(options, request.file->arch());
}

}  // namespace

bool runs_kernel(const wire::Capture& capture, const elf::ImageMap& images) {
  const auto pc = pc_of(capture);
  return capture.level == PrivilegeLevel::kKernel && pc && images.find_code(*pc) != nullptr;
}

KernelWatch::KernelWatch(KernelRequest request, Arch machine)
    : machine_(machine),
      search_(std::move(request)),
      level_(search_.request().no_firmware, search_.request().wants_user),
      unknown_code_(search_.request().symbols),
      adapter_(make_first_adapter(search_.request(), machine)),
      entries_interval_ns_(kCodeIntervalNs),
      other_patience_ns_(kTryAgainAfterNs),
      patience_ns_(kTryAgainAfterNs) {}

// While the kernel is looked for: any code in kernel mode; what runs in another mode, where the
// file that is looked for says that it may be the kernel's.
bool KernelWatch::may_run_kernel(const wire::Capture& capture) const {
  const auto pc = pc_of(capture);
  if (!pc || capture.firmware) return false;
  if (kernel_) {
    const bool is_ours = kernel_->image.file->is_code(kernel_->image.to_image(*pc));
    return is_ours && (capture.level == PrivilegeLevel::kKernel || may_be_kernels(capture));
  }
  if (capture.level == PrivilegeLevel::kKernel) return true;
  if (may_be_kernels(capture)) return level_.no_firmware() || search_.has_code_at(*pc);
  return runs_in_upper_half(capture) && search_.has_code_at(*pc);
}

// While the kernel is looked for, each vCPU's in turn: one may stand where the kernel is not mapped
// (arm64's trampoline), and a guest that is paused shows nothing else.
const wire::Capture* KernelWatch::find_kernel_code(const engines::Tick& tick) const {
  std::vector<const wire::Capture*> found;
  const wire::Capture* halted = nullptr;
  for (const wire::Capture& capture : tick.captures) {
    if (!may_run_kernel(capture)) continue;
    if (capture.disposition != wire::Disposition::kIdle)
      found.push_back(&capture);
    else if (halted == nullptr)
      halted = &capture;
  }
  if (found.empty()) return halted;
  return kernel_ ? found.front() : found[tries_ % found.size()];
}

// A guest may be in firmware at almost every stop: then the code that has called it is the
// kernel's. The vCPU itself does not see that code's memory, which is read by page tables.
const wire::Capture* KernelWatch::find_caller(engines::Engine& engine, const engines::Tick& tick) {
  if (kernel_) return nullptr;
  for (const wire::Capture& capture : tick.captures) {
    const bool is_in_firmware = capture.level == PrivilegeLevel::kFirmware &&
                                capture.disposition == wire::Disposition::kSampled;
    if (!is_in_firmware || capture.arch != Arch::kRiscv64) continue;
    caller_ = capture;
    if (enter_interrupted_code(caller_, true) && caller_.level == PrivilegeLevel::kKernel)
      return engine.physical_memory() ? &caller_ : nullptr;
  }
  return nullptr;
}

Result<KernelWatch::PollResult> KernelWatch::poll(engines::Engine& engine, engines::Tick& tick,
                                                  std::uint64_t now_ns) {
  // By the kernel from before this tick, which may have gone; else by the one that is found now.
  const bool is_settled = is_reported_;
  Result<void> probed;
  if (is_settled) {
    settle(engine, tick);
    probed = probe_reboot(engine, tick, now_ns);
  }
  auto polled = poll_parts(engine, tick, now_ns);
  if (!is_settled) settle(engine, tick);
  if (polled && kernel_) {
    for (const elf::Image& image : polled->code) known_code_.add(image);
    if (!adapter_->reports_all_code()) probe_aliases(engine, tick, *polled);
  }
  if (!probed) return tl::unexpected<Error>(std::move(probed).error());
  if (polled && reboot_) {
    polled->reboot = std::exchange(reboot_, std::nullopt);
    polled->new_recipes = true;
  }
  if (polled) polled->user_interrupts = std::exchange(user_interrupts_, nullptr);
  return polled;
}

// A boot loader that nobody has named leaves its place when it has loaded the kernel, which
// probe_unknown() looks for.
Result<void> KernelWatch::probe_reboot(engines::Engine& engine, const engines::Tick& tick,
                                       std::uint64_t now_ns) {
  const bool is_proven = kernel_->identity.sameness == kernel_image::MatchResult::kSame;
  if (!is_proven || search_.may_be_loader(*kernel_)) return {};
  const wire::Capture* const running = reboot_watch_.poll(tick, known_code_, now_ns);
  if (running == nullptr) return {};
  KernelMemory memory(engine, *running);
  RINGSIDE_ASSIGN(const auto verdict,
                  reboot_watch_.check(kernel_->image, *running, memory, now_ns));
  if (verdict == RebootWatch::Verdict::kHidden) return probe_later_boot(*running, memory);
  if (verdict == RebootWatch::Verdict::kGone) {
    reboot_ = {.kernel_is_gone = true};
    start_over();
  } else if (verdict == RebootWatch::Verdict::kThereAfterReset) {
    reboot_ = {.kernel_is_gone = false};
    RINGSIDE_ASSIGN(adapter_, guestos::make_adapter(search_.request().system, kernel_->image));
    // Its modules of before have gone.
    known_code_ = {};
    known_code_.add(kernel_->image);
    aliases_ = {};
    prepared_ = false;
    next_try_ns_ = next_code_ns_ = 0;
    forget_entries();
  }
  return {};
}

// A kernel that is proved to run where the one before is not.
Result<void> KernelWatch::probe_later_boot(const wire::Capture& running, VirtualMemory& memory) {
  RINGSIDE_ASSIGN(auto found, search_.poll_later_boot(running.arch, *pc_of(running), memory));
  if (!found) return {};
  reboot_ = {.kernel_is_gone = true};
  start_over();
  return adopt(std::move(*found));
}

void KernelWatch::start_over() {
  adapter_ = make_first_adapter(search_.request(), machine_);
  kernel_.reset();
  search_.start_over();
  level_ = KernelLevel(search_.request().no_firmware, search_.request().wants_user);
  reboot_watch_ = {};
  unknown_code_ = UnknownCode(search_.request().symbols);
  known_code_ = {};
  aliases_ = {};
  is_reported_ = false;
  prepared_ = false;
  next_try_ns_ = next_code_ns_ = next_other_ns_ = 0;
  forget_entries();
  other_patience_ns_ = patience_ns_ = kTryAgainAfterNs;
  tries_ = 0;
  tries_with_user_code_.reset();
}

void KernelWatch::forget_entries() {
  next_entries_ns_ = 0;
  entries_interval_ns_ = kCodeIntervalNs;
  user_interrupts_.reset();
}

Result<KernelWatch::PollResult> KernelWatch::poll_parts(engines::Engine& engine,
                                                        engines::Tick& tick, std::uint64_t now_ns) {
  probe_user_code(tick);
  auto polled = poll_kernel(engine, tick, now_ns);
  const bool may_load = is_reported_ && !search_.is_given() && !adapter_->reports_all_code();
  if (polled && may_load)
    if (auto probed = probe_unknown(engine, tick, now_ns, *polled); !probed)
      polled = tl::unexpected<Error>(std::move(probed).error());
  if (kernel_ && !is_reported_) report_kernel(polled);
  return polled;
}

void KernelWatch::settle(const engines::Engine& engine, engines::Tick& tick) {
  const elf::Image* const kernel = kernel_ ? &kernel_->image : nullptr;
  const bool is_torn = engine.tears_registers();
  for (wire::Capture& capture : tick.captures) level_.settle(capture, kernel, is_torn);
}

// An engine that fails says so at the next tick, too; what was seen before that is not to be lost.
void KernelWatch::report_kernel(Result<PollResult>& polled) {
  if (!polled) polled = PollResult{};
  const bool is_candidate =
      kernel_->image.file != search_.request().file && !kernel_->image.file->name().empty();
  known_code_.add(kernel_->image);
  polled->new_recipes = true;
  polled->kernel = std::make_shared<KernelUpdate>(
      KernelUpdate{kernel_->image, adapter_->entries(), adapter_->return_hooks(),
                   adapter_->interrupt_code(), std::string(adapter_->name()), is_candidate});
  is_reported_ = true;
}

// The same holds here.
void KernelWatch::probe_aliases(engines::Engine& engine, const engines::Tick& tick,
                                PollResult& seen) {
  for (const wire::Capture& capture : tick.captures) {
    const auto pc = pc_of(capture);
    const bool is_unknown =
        capture.level == PrivilegeLevel::kKernel && pc && known_code_.find_code(*pc) == nullptr;
    if (!is_unknown || !aliases_.wants(kernel_->image, *pc)) continue;
    KernelMemory memory(engine, capture);
    auto found = CodeAliases::poll(kernel_->image, *pc, memory);
    if (!found || !*found) continue;
    known_code_.add(**found);
    seen.code.push_back(std::move(**found));
  }
}

Result<KernelWatch::PollResult> KernelWatch::poll_kernel(engines::Engine& engine,
                                                         const engines::Tick& tick,
                                                         std::uint64_t now_ns) {
  PollResult seen;
  const bool search = !(kernel_ && prepared_) && now_ns >= next_try_ns_;
  const bool probe_code = kernel_ && now_ns >= next_code_ns_;
  const bool may_be_other = !has_file() || search_.looks_elsewhere() || tries_ >= kTriesOfGivenFile;
  const bool needs_file = !kernel_ && may_be_other;
  if (!search && !probe_code && !needs_file) return seen;
  const wire::Capture* running = find_kernel_code(tick);
  if (running == nullptr) running = find_caller(engine, tick);
  if (running == nullptr) return seen;
  const GuestVirt pc = *pc_of(*running);
  const bool is_unknown = needs_file && unknown_code_.wants(running->arch, pc, now_ns);
  if (!search && !probe_code && !is_unknown) return seen;
  KernelMemory memory(engine, *running);
  if (search) RINGSIDE_TRY(probe_kernel(engine, *running, memory, now_ns, seen));
  if (kernel_) {
    RINGSIDE_ASSIGN(seen.code, adapter_->loaded_code(memory));
    next_code_ns_ = now_ns + kCodeIntervalNs;
    if (now_ns >= next_entries_ns_) RINGSIDE_TRY(probe_entries(engine, *running, memory, now_ns));
  } else if (is_unknown) {
    RINGSIDE_ASSIGN(auto code, unknown_code_.poll(running->arch, pc, memory));
    if (code) seen.code.push_back(std::move(*code));
  }
  return seen;
}

// The kernel sets its entries when it starts, and drivers may add some later.
Result<void> KernelWatch::probe_entries(engines::Engine& engine, const wire::Capture& running,
                                        VirtualMemory& memory, std::uint64_t now_ns) {
  const auto registers = [&] { return engine.read_registers(running.vcpu); };
  RINGSIDE_ASSIGN(auto found, adapter_->user_interrupts(kernel_->image, memory, registers));
  if (found) {
    user_interrupts_ = std::move(found);
    entries_interval_ns_ = kLongestPatienceNs;
  }
  next_entries_ns_ = now_ns + entries_interval_ns_;
  entries_interval_ns_ = std::min(2 * entries_interval_ns_, kLongestPatienceNs);
  return {};
}

// Copies of a file's functions have their names.
bool KernelWatch::is_of_a_file(GuestVirt pc) const {
  const elf::Image* const image = known_code_.find_code(pc);
  return image != nullptr && (!image->file->name().empty() || !image->file->symbols().empty());
}

// In firmware's mode, too, where the machine has no firmware.
bool KernelWatch::runs_unknown_code(const wire::Capture& capture) const {
  const auto pc = pc_of(capture);
  const bool in_kernel =
      capture.level == PrivilegeLevel::kKernel || (may_be_kernels(capture) && level_.no_firmware());
  return in_kernel && pc && !is_of_a_file(*pc);
}

Result<void> KernelWatch::probe_unknown(engines::Engine& engine, const engines::Tick& tick,
                                        std::uint64_t now_ns, PollResult& seen) {
  for (const wire::Capture& capture : tick.captures) {
    if (!runs_unknown_code(capture)) continue;
    const GuestVirt pc = *pc_of(capture);
    const bool wants_file = now_ns >= next_other_ns_;
    const bool wants_code = unknown_code_.wants(capture.arch, pc, now_ns);
    if (!wants_file && !wants_code) continue;
    KernelMemory memory(engine, capture);
    if (wants_file) RINGSIDE_TRY(probe_other(pc, memory, now_ns));
    if (!is_reported_) return {};
    if (!wants_code) continue;
    RINGSIDE_ASSIGN(auto code, unknown_code_.poll(capture.arch, pc, memory));
    if (code) seen.code.push_back(std::move(*code));
    return {};
  }
  return {};
}

Result<void> KernelWatch::probe_other(GuestVirt pc, VirtualMemory& memory, std::uint64_t now_ns) {
  RINGSIDE_ASSIGN(auto found, search_.poll_other(*kernel_->image.file, pc, memory));
  next_other_ns_ = now_ns + (search_.is_gathering() ? kGatheringNs : other_patience_ns_);
  if (!search_.is_gathering())
    other_patience_ns_ = std::min(2 * other_patience_ns_, kLongestPatienceNs);
  if (!found) return {};
  other_patience_ns_ = kTryAgainAfterNs;
  is_reported_ = false;
  prepared_ = false;
  next_try_ns_ = 0;
  return adopt(std::move(*found));
}

// One of the candidates, by a boot loader.
bool KernelWatch::may_be_loading() const {
  constexpr unsigned kEnoughTries = 40;
  return !search_.request().candidates.empty() && tries_ < kEnoughTries;
}

// Kernels that run user code have started: if one is to be found without a file, it will be soon.
void KernelWatch::probe_user_code(const engines::Tick& tick) {
  if (kernel_ || has_file() || tries_with_user_code_) return;
  const bool is_there =
      std::any_of(tick.captures.begin(), tick.captures.end(),
                  [](const auto& one) { return one.level == PrivilegeLevel::kUser; });
  if (!is_there) return;
  tries_with_user_code_ = 0;
  next_try_ns_ = 0;
}

Result<void> KernelWatch::probe_kernel(engines::Engine& engine, const wire::Capture& running,
                                       VirtualMemory& memory, std::uint64_t now_ns,
                                       PollResult& seen) {
  if (!kernel_) RINGSIDE_TRY(find(running, memory));
  if (kernel_) {
    RINGSIDE_ASSIGN(prepared_, adapter_->prepare(engine.vcpu_count(), memory));
  }
  // A pc outside of the kernel's own code, in a module say, shows nothing; the next tick's may.
  const bool eager = !kernel_ && has_file() && !search_.should_wait() && tries_ < kEagerTries;
  if (!kernel_ && tries_with_user_code_) ++*tries_with_user_code_;
  const bool settled = tries_with_user_code_ && *tries_with_user_code_ >= kTriesWithUserCode;
  if (!kernel_ && settled) adapter_->count_unnamed_processes();
  const bool soon = tries_with_user_code_ && !settled;
  next_try_ns_ = eager ? 0 : now_ns + (soon ? kTryAgainAfterNs : patience_ns_);
  if (!kernel_ && search_.is_gathering()) next_try_ns_ = now_ns + kGatheringNs;
  if (!kernel_ && ++tries_ > kEagerTries)
    patience_ns_ =
        std::min(2 * patience_ns_, may_be_loading() ? kCandidatePatienceNs : kLongestPatienceNs);
  seen.new_recipes = kernel_.has_value();
  return {};
}

// By what runs, or by what has called it. Each try takes other words of the stack, and one only
// where each of many files is compared with it.
Result<void> KernelWatch::find(const wire::Capture& running, VirtualMemory& memory) {
  const std::size_t words_a_try = has_file() ? 3 : 1;
  RINGSIDE_ASSIGN(auto found, search_.poll(running.arch, *pc_of(running), memory));
  if (found) return adopt(std::move(*found));
  const std::vector<GuestVirt> words = code_on_stack(running);
  const std::size_t count = std::min(words.size(), words_a_try);
  for (std::size_t i = 0; i < count && !found; ++i) {
    RINGSIDE_ASSIGN(found, search_.prove(words[(words_a_try * tries_ + i) % words.size()], memory));
  }
  if (!found) {
    RINGSIDE_ASSIGN(found, find_left(running, memory));
  }
  return found ? adopt(std::move(*found)) : Result<void>();
}

// A vCPU that runs where the kernel is mapped by a few pages only (arm64's trampoline): a kernel
// stack has the calls of functions that have ended. A paused guest may show nothing else.
Result<std::optional<FoundKernel>> KernelWatch::find_left(const wire::Capture& running,
                                                          VirtualMemory& memory) {
  constexpr std::size_t kMost = 2;
  RINGSIDE_ASSIGN(const std::vector<GuestVirt> calls, calls_below_stack(running, memory));
  std::optional<FoundKernel> found;
  for (std::size_t i = 0; i < std::min(calls.size(), kMost) && !found; ++i) {
    RINGSIDE_ASSIGN(found, search_.prove_code(running.arch, calls[i], memory));
  }
  return found;
}

Result<void> KernelWatch::adopt(FoundKernel found) {
  kernel_ = std::move(found);
  patience_ns_ = kTryAgainAfterNs;
  // It keeps where the image is.
  auto adapter = guestos::make_adapter(search_.request().system, kernel_->image);
  if (!adapter) {
    kernel_.reset();
    return tl::unexpected<Error>(std::move(adapter).error());
  }
  forget_entries();
  (*adapter)->take_over(*adapter_);
  adapter_ = std::move(*adapter);
  return {};
}

void KernelWatch::add_facts(findings::GuestFacts& facts) const {
  const KernelRequest& request = search_.request();
  facts.kernel_was_found = kernel_.has_value();
  if (kernel_)
    facts.kernel_file = kernel_->image.file->name();
  else if (request.file)
    facts.kernel_file = request.file->name();
  facts.identity = kernel_ ? kernel_->identity : search_.identity();
  facts.was_looked_for = search_.has_looked();
  facts.compared_files = request.candidates.size();
  facts.has_symbols = request.symbols != nullptr;
  facts.code_was_read = unknown_code_.was_read();
  facts.has_qemus_firmware = request.has_qemus_firmware;
}

std::string KernelWatch::explain() const {
  findings::GuestFacts facts;
  facts.samples_by_level[static_cast<std::size_t>(PrivilegeLevel::kKernel)] = 1;
  add_facts(facts);
  const auto sentences = findings::sentences(findings::of_guest(), facts);
  return sentences.empty() ? std::string() : sentences.front();
}

}  // namespace ringside::session
