#include "wire/classify.h"

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "arch/x86.h"

namespace ringside::wire {

namespace {

// Whether code that counts as firmware by its mode may be a kernel. 16-bit code is never a kernel,
// and 64-bit code never runs without paging.
bool may_be_kernel(const Capture& capture) {
  constexpr std::uint64_t kProtectionEnable = 1;
  if (capture.arch == Arch::kX86_64) return false;
  return capture.arch != Arch::kI386 ||
         (capture.registers.get(arch::i386::kCr0) & kProtectionEnable) != 0;
}

}  // namespace

bool classify(Capture& capture, WantedModes wanted, Arch recipe_arch) {
  if (capture.arch == Arch::kX86_64) {
    if (const auto registers = arch::as_i386(capture.registers)) {
      capture.arch = Arch::kI386;
      capture.registers = *registers;
    }
  }
  const arch::RegisterRoles roles = arch::roles_of(capture.arch);
  if (!capture.registers.has(roles.pc) || !capture.registers.has(roles.sp)) {
    capture.disposition = Disposition::kFailed;
    return false;
  }
  capture.level = arch::privilege_level_of(capture.arch, capture.registers);
  if (capture.disposition == Disposition::kIdle) return false;
  const bool user = capture.level == PrivilegeLevel::kUser;
  if (user ? !wanted.user : !wanted.kernel) {
    capture.disposition = Disposition::kSkipped;
    return false;
  }
  if (capture.level == PrivilegeLevel::kFirmware && !may_be_kernel(capture)) return false;
  return recipe_arch == Arch::kUnknown || recipe_arch == capture.arch;
}

}  // namespace ringside::wire
