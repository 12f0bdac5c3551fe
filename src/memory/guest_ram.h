#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace ringside::memory {

// One of QEMU's blocks of RAM: the machine's, one of its NUMA nodes', a DIMM, a ROM.
struct RamBlock {
  std::string name;
  std::uint64_t bytes = 0;
  // Where QEMU has it in its own address space; 0: it does not say (7.2).
  std::uint64_t host_address = 0;

  bool operator==(const RamBlock&) const = default;
};

// A piece of guest-physical memory that lies in one of the blocks.
struct RamRange {
  GuestPhys start;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // in the block
  std::size_t block = 0;     // RamMap::blocks

  bool operator==(const RamRange&) const = default;
};

// The RAM of a machine, with its addresses. It changes when memory is plugged in, and while x86
// firmware runs.
struct RamMap {
  std::vector<RamBlock> blocks;  // those that ranges use
  std::vector<RamRange> ranges;  // by address, without overlaps; device memory left out

  bool operator==(const RamMap&) const = default;
};

// From what QEMU's human monitor prints for `info mtree -f`, whose view of the address space
// "memory" says what vCPUs see, and for `info ramblock`: RAM and ROM, not flash. A range that
// begins between 640 and 768 KiB loses its part below 768 KiB: on a PC a display's registers come
// and go there. Error kUnsupported: no RAM is reported in a form that we know.
[[nodiscard]] Result<RamMap> parse_ram_map(std::string_view info_mtree_flat,
                                           std::string_view info_ramblock);

// The piece of `ranges` that holds an address, cut to at most `bytes`: nothing outside of all.
struct RamPiece {
  std::size_t block;
  std::uint64_t offset;  // in the block
  std::size_t bytes;
};
[[nodiscard]] std::optional<RamPiece> find_ram(const std::vector<RamRange>& ranges,
                                               GuestPhys address, std::size_t bytes);

}  // namespace ringside::memory
