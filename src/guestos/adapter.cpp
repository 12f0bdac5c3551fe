#include "guestos/adapter.h"

#include "arch/arch_info.h"
#include "guestos/emerald_adapter.h"
#include "guestos/generic_adapter.h"
#include "guestos/linux/linux_adapter.h"

namespace ringside::guestos {
namespace {

constexpr std::string_view kLinux = "linux";
constexpr std::string_view kEmerald = "emerald";
constexpr std::string_view kGeneric = "generic";

// The user has stated what the processes run.
bool names_programs(const AdapterOptions& options) {
  return options.user_program != nullptr || !options.processes.empty();
}

}  // namespace

Result<std::unique_ptr<ProcessSource>> Adapter::process_source() const {
  return fail(ErrorCode::kUnsupported,
              "the processes of a guest are known if it is Linux; this one is: {}", name());
}

Result<std::string_view> system_of(const AdapterOptions& options, const elf::ElfFile& kernel) {
  const bool is_linux = LinuxAdapter::recognises(kernel);
  const std::string_view name =
      kernel.name().empty() ? "the kernel in the guest's memory" : std::string_view(kernel.name());
  if (options.os == GuestOs::kLinux && !is_linux)
    return fail(ErrorCode::kMismatch,
                "--os linux: {} has no symbol linux_banner; give a Linux vmlinux with --kernel",
                name);
  const bool is_x86_64 = kernel.arch() == Arch::kX86_64;
  if (options.os == GuestOs::kEmerald && !is_x86_64)
    return fail(ErrorCode::kMismatch, "--os emerald: {} is for {}, and Emerald for x86_64", name,
                arch::name_of(kernel.arch()));
  if (options.os == GuestOs::kEmerald) return kEmerald;
  if (options.os == GuestOs::kGeneric) return kGeneric;
  return is_linux ? kLinux : kGeneric;
}

Result<std::unique_ptr<Adapter>> make_adapter(const AdapterOptions& options,
                                              const elf::Image& kernel) {
  RINGSIDE_ASSIGN(const std::string_view system, system_of(options, *kernel.file));
  const Arch arch = kernel.file->arch();
  if (system == kLinux) return std::make_unique<LinuxAdapter>(kernel, options);
  const bool may_be_like_emerald =
      arch == Arch::kX86_64 && options.os == GuestOs::kAuto && !names_programs(options);
  std::unique_ptr<Adapter> adapter;
  if (system == kEmerald || may_be_like_emerald)
    adapter = std::make_unique<EmeraldAdapter>(options, system == kEmerald);
  else
    adapter = std::make_unique<GenericAdapter>(arch, options);
  adapter->count_unnamed_processes();
  return adapter;
}

std::unique_ptr<Adapter> make_adapter(const AdapterOptions& options, Arch arch) {
  const bool is_emerald = options.os == GuestOs::kEmerald;
  // Linux, too, has something at the page's address: it is searched for where the user speaks of
  // programs.
  const bool may_be_like_it = options.os == GuestOs::kAuto && options.programs != nullptr;
  if (arch == Arch::kX86_64 && (is_emerald || may_be_like_it))
    return std::make_unique<EmeraldAdapter>(options, is_emerald);
  return std::make_unique<GenericAdapter>(arch, options);
}

}  // namespace ringside::guestos
