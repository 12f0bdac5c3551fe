#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "arch/arch_info.h"
#include "arch/register_names.h"
#include "arch/registers.h"
#include "base/types.h"
#include "plugin/qemu_api.h"

namespace ringside::plugin {

// The registers and memory of the vCPU in whose thread it is called, by QEMU's interface.
class Guest {
 public:
  // Finds the registers' handles. Called in the vCPU's thread, once.
  void find_registers(Arch arch);

  void read_registers(arch::Registers& registers);
  // Returns how many bytes from the start could be read.
  [[nodiscard]] std::size_t read_memory(GuestVirt address, std::span<std::byte> destination);

 private:
  struct Handle {
    qemu_plugin_register* handle;
    arch::RegisterName known;
  };
  void read(const Handle& entry, arch::Registers& registers);
  [[nodiscard]] bool read_all(GuestVirt address, std::span<std::byte> destination);

  Arch arch_ = Arch::kUnknown;
  std::vector<Handle> handles_;
  GByteArray* buffer_ = nullptr;  // lives as long as QEMU
};

}  // namespace ringside::plugin
