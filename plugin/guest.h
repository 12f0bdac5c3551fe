#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/types.h"
#include "plugin/qemu_api.h"
#include "wire/register_names.h"
#include "wire/registers.h"

namespace ringside::plugin {

// What QEMU's interface gives of the vCPU in whose thread it is asked.
class Guest {
 public:
  // Finds the registers' handles. Called in the vCPU's thread, once.
  void find_registers(Arch arch);

  void read_registers(wire::Registers& registers);
  // Returns how many bytes from the start could be read.
  [[nodiscard]] std::size_t read_memory(GuestVirt address, std::span<std::byte> destination);

 private:
  struct Handle {
    qemu_plugin_register* handle;
    wire::KnownRegister known;
  };
  void read(const Handle& entry, wire::Registers& registers);
  [[nodiscard]] bool read_all(GuestVirt address, std::span<std::byte> destination);

  Arch arch_ = Arch::kUnknown;
  std::vector<Handle> handles_;
  GByteArray* buffer_ = nullptr;  // lives as long as QEMU
};

}  // namespace ringside::plugin
