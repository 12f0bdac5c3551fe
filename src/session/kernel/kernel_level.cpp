#include "session/kernel/kernel_level.h"

#include "arch/arch_info.h"
#include "session/kernel/firmware_code.h"
#include "session/kernel/trap_loop.h"

namespace ringside::session {
namespace {

GuestVirt pc_of(const wire::Capture& capture) {
  return {capture.registers.get(arch::roles_of(capture.arch).pc)};
}

bool has_modes_above(Arch arch) { return arch::info_of(arch).running_level != nullptr; }

}  // namespace

bool may_be_kernels(const wire::Capture& capture) {
  return capture.level == PrivilegeLevel::kFirmware && capture.arch != Arch::kX86_64;
}

bool runs_in_upper_half(const wire::Capture& capture) {
  constexpr std::uint64_t kVsyscall = 0xffffffffff600000;  // arch/x86/include/uapi/asm/vsyscall.h
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t pc = pc_of(capture).value;
  return capture.arch == Arch::kX86_64 && capture.level == PrivilegeLevel::kUser && pc >> 63 != 0 &&
         pc - kVsyscall >= kPage;
}

PrivilegeLevel KernelLevel::level_of(const wire::Capture& capture, const elf::Image* kernel,
                                     bool is_torn) {
  const bool is_own = kernel != nullptr && kernel->file->is_code(kernel->to_image(pc_of(capture)));
  switch (capture.level) {
    case PrivilegeLevel::kFirmware:
      if (!may_be_kernels(capture)) break;
      if (!is_own && !is_beside_kernel(capture) && (kernel != nullptr || !no_firmware_)) break;
      seen_in_high_mode_ |= is_own && has_modes_above(capture.arch);
      return PrivilegeLevel::kKernel;
    case PrivilegeLevel::kKernel:
      seen_in_usual_mode_ |= is_own;
      if (seen_in_high_mode_ && !seen_in_usual_mode_) return PrivilegeLevel::kGuest;
      break;
    case PrivilegeLevel::kUser:
      if (runs_in_upper_half(capture))
        return is_torn ? PrivilegeLevel::kKernel : PrivilegeLevel::kGuest;
      break;
    default:
      break;
  }
  return capture.level;
}

// Modules of a kernel in EL2: the upper half of the addresses is a kernel's. Firmware runs where
// physical memory is.
bool KernelLevel::is_beside_kernel(const wire::Capture& capture) const {
  return seen_in_high_mode_ && capture.arch == Arch::kAArch64 && pc_of(capture).value >> 63 != 0;
}

void KernelLevel::settle(wire::Capture& capture, const elf::Image* kernel, bool is_torn) {
  if (capture.disposition != wire::Disposition::kSampled) return;
  if (repeats_a_trap(capture)) {
    capture.level = PrivilegeLevel::kKernel;
    return keep_pc_alone(capture);
  }
  capture.level = level_of(capture, kernel, is_torn);
  if (capture.level == PrivilegeLevel::kFirmware && !is_torn &&
      enter_interrupted_code(capture, wants_user_))
    capture.level = level_of(capture, kernel, is_torn);
  if (capture.level != PrivilegeLevel::kFirmware && capture.level != PrivilegeLevel::kGuest) return;
  // One frame: its memory is not needed.
  capture.pieces.clear();
  capture.bytes.clear();
}

}  // namespace ringside::session
