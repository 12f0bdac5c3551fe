#include "wire/classify.h"

#include "wire/execution_mode.h"

namespace ringside::wire {

bool classify(Capture& capture, WantedModes wanted, Arch recipe_arch) {
  if (capture.arch == Arch::kX86_64) {
    if (const auto registers = as_i386(capture.registers)) {
      capture.arch = Arch::kI386;
      capture.registers = *registers;
    }
  }
  const RegisterRoles roles = roles_of(capture.arch);
  if (!capture.registers.has(roles.pc) || !capture.registers.has(roles.sp)) {
    capture.disposition = Disposition::kFailed;
    return false;
  }
  capture.level = privilege_level_of(capture.arch, capture.registers);
  if (capture.disposition == Disposition::kIdle) return false;
  const bool user = capture.level == PrivilegeLevel::kUser;
  if (user ? !wanted.user : !wanted.kernel) {
    capture.disposition = Disposition::kSkipped;
    return false;
  }
  // Firmware is one frame: none of its memory is needed.
  if (capture.level == PrivilegeLevel::kFirmware) return false;
  return recipe_arch == Arch::kUnknown || recipe_arch == capture.arch;
}

}  // namespace ringside::wire
