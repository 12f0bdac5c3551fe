#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/memory_reader.h"

namespace ringside::session {

// Pieces of mapped memory by address, of which no two lie side by side.
using MappedMemory = std::map<std::uint64_t, std::vector<std::byte>>;

// Range that is read around an address, in bytes.
struct ScanReach {
  std::uint64_t down = 0;
  std::uint64_t up = 0;
  // Memory that is not mapped is looked over so far; 0: it ends the scan. Where a hole is of the
  // device memory that may lie close to a kernel, reading on does harm.
  std::uint64_t longest_hole = 0;
  std::uint64_t lowest = 0;  // an address; nothing below it is read
};

// Reads what is mapped around `at`, 64 KiB at a time or many times that. Empty where `at` itself is
// not mapped. Errors: those of `memory`.
[[nodiscard]] Result<MappedMemory> read_around(GuestVirt at, const ScanReach& reach,
                                               VirtualMemory& memory);

}  // namespace ringside::session
