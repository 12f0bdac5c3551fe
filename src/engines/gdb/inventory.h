#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "engines/gdb/protocol/stub.h"
#include "engines/gdb/register_layout.h"

namespace ringside::engines::gdb {

// One vCPU as the stub names it.
struct VcpuThread {
  VcpuId vcpu;
  std::string name;  // "p01.02", "2"
};

// Properties that are queried once, while the guest still stands after the handshake.
struct Inventory {
  std::vector<VcpuThread> threads;  // by vCPU number, from 0, without gaps
  RegisterLayout layout;
  bool has_x = false;              // binary memory reads
  bool has_physical_mode = false;  // Qqemu.PhyMemMode
};

// `describes_registers`: the stub offers qXfer:features:read.
[[nodiscard]] Result<Inventory> take_inventory(Stub& stub, bool describes_registers);

}  // namespace ringside::engines::gdb
