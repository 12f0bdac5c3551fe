#include "guestos/linux/entry/user_arch.h"

#include "guestos/linux/linux_arch.h"

namespace ringside::guestos {

Arch user_arch(Arch kernel, const arch::Registers& registers) {
  const LinuxArch* const linux_arch = find_linux_arch(kernel);
  if (linux_arch == nullptr || linux_arch->user_arch == nullptr) return kernel;
  return linux_arch->user_arch(registers);
}

}  // namespace ringside::guestos
