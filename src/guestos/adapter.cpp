#include "guestos/adapter.h"

#include "guestos/generic_adapter.h"
#include "guestos/linux_adapter.h"

namespace ringside::guestos {

Result<std::unique_ptr<Adapter>> make_adapter(GuestOs os, const elf::Image* kernel, Arch machine) {
  const bool is_linux = kernel != nullptr && LinuxAdapter::recognises(*kernel->file);
  if (os == GuestOs::kLinux && !is_linux)
    return fail(ErrorCode::kMismatch,
                "--os linux: {} has no symbol linux_banner; give a Linux vmlinux with --kernel",
                kernel ? kernel->file->name() : "(no kernel file)");
  if (is_linux && os != GuestOs::kGeneric) return std::make_unique<LinuxAdapter>(*kernel);
  return std::make_unique<GenericAdapter>(kernel ? kernel->file->arch() : machine);
}

}  // namespace ringside::guestos
