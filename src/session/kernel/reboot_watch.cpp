#include "session/kernel/reboot_watch.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arch/arch_info.h"
#include "kernel_image/identity.h"

namespace ringside::session {
namespace {

using kernel_image::MatchResult;

// riscv64's firmware also serves calls of the kernel, each for a moment. On a busy host one that
// waits for other vCPUs may take a time slice.
constexpr unsigned kFirmwareOfABoot = 5;
constexpr std::uint64_t kFirmwareOfABootNs = 50'000'000;
// Modules and other code that the kernel has just loaded are in no image yet.
constexpr unsigned kUnknownInARow = 3;
constexpr std::uint64_t kLongestPatienceNs = 2'000'000'000;
// A guest that was reset takes seconds until it may be reset again.
constexpr std::uint64_t kLongestAfterResetNs = 8'000'000'000;

GuestVirt pc_of(const wire::Capture& capture) {
  return {capture.registers.get(arch::roles_of(capture.arch).pc)};
}

}  // namespace

void RebootWatch::Pace::rest(std::uint64_t now_ns, std::uint64_t longest_ns) {
  next_ns = now_ns + patience_ns;
  patience_ns = std::min(2 * patience_ns, longest_ns);
}

void RebootWatch::take_in(const wire::Capture& capture, const elf::ImageMap& known,
                          std::uint64_t now_ns) {
  const bool is_known = known.find_code(pc_of(capture)) != nullptr;
  // Its caller's pc alone may be from before a reset.
  const bool has_caller = capture.firmware && capture.firmware->frame;
  const bool is_firmware = (capture.level == PrivilegeLevel::kFirmware && !is_known) ||
                           (capture.firmware && !has_caller);
  // Later vCPUs start without paging while the kernel runs.
  if (capture.vcpu.value == 0) firmware_run_ = is_firmware ? firmware_run_ + 1 : 0;
  if (firmware_run_ == 0) firmware_since_ns_ = now_ns;
  may_be_reset_ |=
      firmware_run_ >= kFirmwareOfABoot && now_ns >= firmware_since_ns_ + kFirmwareOfABootNs;
  if (is_known)
    unknown_run_ = 0;
  else if (capture.level == PrivilegeLevel::kKernel)
    ++unknown_run_;
}

const wire::Capture* RebootWatch::poll(const engines::Tick& tick, const elf::ImageMap& known,
                                       std::uint64_t now_ns) {
  const wire::Capture* last = nullptr;
  for (const wire::Capture& capture : tick.captures) {
    if (capture.disposition != wire::Disposition::kSampled ||
        !capture.registers.has(arch::roles_of(capture.arch).pc))
      continue;
    take_in(capture, known, now_ns);
    const bool is_suspect = may_be_reset_ || unknown_run_ >= kUnknownInARow;
    if (is_suspect && capture.level == PrivilegeLevel::kKernel && !capture.firmware)
      last = &capture;
  }
  return now_ns >= (may_be_reset_ ? after_reset_ : after_unknown_).next_ns ? last : nullptr;
}

Result<RebootWatch::Verdict> RebootWatch::check(const elf::Image& kernel,
                                                const wire::Capture& running, VirtualMemory& memory,
                                                std::uint64_t now_ns) {
  constexpr std::size_t kPieces = 16;
  std::array<std::byte, 1> code{};
  RINGSIDE_ASSIGN(const std::size_t readable, memory.read_up_to(pc_of(running), code));
  if (readable == 0) return Verdict::kUnreadable;
  RINGSIDE_ASSIGN(const kernel_image::Identity identity,
                  kernel_image::check_identity(*kernel.file, kernel.load_bias, memory, kPieces));
  // A file that was made of the guest's memory is from before the kernel has patched its code.
  const bool may_be_patched = kernel.file->name().empty() &&
                              identity.evidence == kernel_image::kTextEvidence &&
                              identity.sameness != MatchResult::kUnreadable;
  const bool is_there = identity.sameness == MatchResult::kSame ||
                        identity.sameness == MatchResult::kNoEvidence || may_be_patched;
  unknown_run_ = 0;
  const bool after_reset = std::exchange(may_be_reset_, false);
  if (after_reset)
    after_reset_.rest(now_ns, kLongestAfterResetNs);
  else
    after_unknown_.rest(now_ns, kLongestPatienceNs);
  if (after_reset) return is_there ? Verdict::kThereAfterReset : Verdict::kGone;
  return is_there ? Verdict::kThere : Verdict::kHidden;
}

}  // namespace ringside::session
