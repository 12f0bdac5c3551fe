#include "session/kernel/reboot_watch.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arch/arch_info.h"
#include "kernel_image/identity.h"

namespace ringside::session {
namespace {

using kernel_image::MatchResult;

// riscv64's firmware also serves calls of the kernel, each for a moment.
constexpr unsigned kFirmwareOfABoot = 5;
// Modules and other code that the kernel has just loaded are in no image yet.
constexpr unsigned kUnknownInARow = 3;
constexpr std::uint64_t kLongestPatienceNs = 2'000'000'000;

GuestVirt pc_of(const wire::Capture& capture) {
  return {capture.registers.get(arch::roles_of(capture.arch).pc)};
}

}  // namespace

void RebootWatch::take_in(const wire::Capture& capture, const elf::ImageMap& known) {
  const bool is_known = known.find_code(pc_of(capture)) != nullptr;
  const bool is_firmware = capture.level == PrivilegeLevel::kFirmware && !is_known;
  // Later vCPUs start without paging while the kernel runs.
  if (capture.vcpu.value == 0) firmware_run_ = is_firmware ? firmware_run_ + 1 : 0;
  may_be_reset_ |= firmware_run_ >= kFirmwareOfABoot;
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
    take_in(capture, known);
    const bool is_suspect = may_be_reset_ || unknown_run_ >= kUnknownInARow;
    if (is_suspect && capture.level == PrivilegeLevel::kKernel) last = &capture;
  }
  return may_be_reset_ || now_ns >= next_check_ns_ ? last : nullptr;
}

Result<RebootWatch::Verdict> RebootWatch::check(const elf::Image& kernel,
                                                const wire::Capture& running, VirtualMemory& memory,
                                                std::uint64_t now_ns) {
  constexpr std::size_t kPieces = 16;
  std::array<std::byte, 1> code{};
  RINGSIDE_ASSIGN(const std::size_t readable, memory.read_up_to(pc_of(running), code));
  if (readable == 0) return Verdict::kUnreadable;
  const bool after_reset = std::exchange(may_be_reset_, false);
  unknown_run_ = 0;
  RINGSIDE_ASSIGN(const kernel_image::Identity identity,
                  kernel_image::check_identity(*kernel.file, kernel.load_bias, memory, kPieces));
  // A file that was made of the guest's memory is from before the kernel has patched itself.
  const bool is_of_memory = kernel.file->name().empty();
  const bool is_there = identity.sameness == MatchResult::kSame ||
                        identity.sameness == MatchResult::kNoEvidence ||
                        (is_of_memory && identity.sameness != MatchResult::kUnreadable);
  if (after_reset) return is_there ? Verdict::kThereAfterReset : Verdict::kGone;
  next_check_ns_ = now_ns + patience_ns_;
  patience_ns_ = std::min(2 * patience_ns_, kLongestPatienceNs);
  return is_there ? Verdict::kThere : Verdict::kHidden;
}

}  // namespace ringside::session
