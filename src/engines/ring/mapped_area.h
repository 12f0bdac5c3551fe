#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/memory_reader.h"
#include "engines/ring/ring_reader.h"
#include "memory/page_walk.h"

namespace ringside::engines::ring {

// Bytes of a guest's virtual memory, by offsets from `start`, as page tables map them now: each
// page is walked to once. Nothing where one of them is not mapped, or there are more than
// `walks_left`, from which they are taken. `physical` outlives it. Errors: those of the memory.
[[nodiscard]] Result<std::unique_ptr<AreaMemory>> map_area(GuestVirt start, std::uint64_t bytes,
                                                           const memory::PageTables& tables,
                                                           PhysicalMemory& physical,
                                                           std::uint64_t& walks_left);
// Bytes that lie one behind the other in RAM.
[[nodiscard]] std::unique_ptr<AreaMemory> area_in_ram(GuestPhys start, std::uint64_t bytes,
                                                      PhysicalMemory& physical);

}  // namespace ringside::engines::ring
