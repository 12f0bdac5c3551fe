#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace ringside::memory {

// A piece of guest-physical memory that lies in the machine's RAM block.
struct RamRange {
  GuestPhys start;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // in the block
};

// One way in which QEMU puts the machine's RAM block into guest-physical memory.
struct RamLayout {
  // What `info pci` says of the host bridge where this layout holds: "8086:1237". Empty: it is the
  // machine's only layout.
  std::string_view host_bridge;
  std::vector<RamRange> ranges;  // by address; device memory and what firmware shadows left out
};

// QEMU's block of RAM: with a memory backend, or several, it has another name.
struct RamBlock {
  std::string name;
  std::uint64_t bytes = 0;
};

// The machine's RAM in what the monitor prints for `info ramblock`; nothing if there is none whose
// name we know.
[[nodiscard]] std::optional<RamBlock> find_machine_ram(std::string_view info_ramblock);

// The layouts that a machine with this block may have, by its name. Empty for an unknown one. They
// hold for machines without the option max-ram-below-4g and of versioned types from 4.1 on.
[[nodiscard]] std::vector<RamLayout> ram_layouts(const RamBlock& block);

}  // namespace ringside::memory
