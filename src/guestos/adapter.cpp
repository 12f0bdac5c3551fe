#include "guestos/adapter.h"

#include "guestos/generic_adapter.h"
#include "guestos/linux_adapter.h"

namespace ringside::guestos {
namespace {

constexpr std::string_view kLinux = "linux";
constexpr std::string_view kGeneric = "generic";

}  // namespace

Result<std::string_view> system_of(GuestOs os, const elf::ElfFile& kernel) {
  const bool is_linux = LinuxAdapter::recognises(kernel);
  if (os == GuestOs::kLinux && !is_linux)
    return fail(ErrorCode::kMismatch,
                "--os linux: {} has no symbol linux_banner; give a Linux vmlinux with --kernel",
                kernel.name().empty() ? "the kernel in the guest's memory" : kernel.name());
  return is_linux && os != GuestOs::kGeneric ? kLinux : kGeneric;
}

Result<std::unique_ptr<Adapter>> make_adapter(GuestOs os, const elf::Image& kernel) {
  RINGSIDE_ASSIGN(const std::string_view system, system_of(os, *kernel.file));
  if (system == kLinux) return std::make_unique<LinuxAdapter>(kernel);
  return make_generic_adapter(kernel.file->arch());
}

std::unique_ptr<Adapter> make_generic_adapter(Arch arch) {
  return std::make_unique<GenericAdapter>(arch);
}

}  // namespace ringside::guestos
