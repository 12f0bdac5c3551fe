#pragma once

#include <cstdint>
#include <optional>

#include "base/memory_reader.h"
#include "base/result.h"
#include "base/types.h"
#include "memory/table_shape.h"

namespace ringside::memory {

enum class WalkEnd : std::uint8_t {
  kMapped,
  kNotPresent,    // the entry says so
  kUnreadable,    // the entry lies outside of RAM, or the form of the tables is not known
  kNotCanonical,  // no address of this address space
};

// Result of the walk for an address.
struct PageWalk {
  WalkEnd end = WalkEnd::kNotCanonical;
  GuestPhys address;        // kMapped: of the byte that was asked for
  std::uint64_t bytes = 0;  // kMapped: from there to the end of the page; otherwise: to the next
                            // address that another entry decides about (0: to the very end)
  std::uint8_t level = 0;   // 1: the table of 4 KiB pages, counted up to the root; 0: none
  GuestPhys entry;          // the last entry that was examined
};

// One way of walking page tables from one root. Rights (writable, user, no-execute) are not judged.
// Each walk reads at most one entry a level.
class PageTables {
 public:
  virtual ~PageTables() = default;
  // Errors: those of `physical`.
  [[nodiscard]] virtual Result<PageWalk> walk(PhysicalMemory& physical,
                                              GuestVirt address) const = 0;
  // How addresses below the middle are walked, where user code has its own: the shape is the same
  // for the tables of all processes. Nothing where they are not translated, and where nobody needs
  // it.
  [[nodiscard]] virtual std::optional<TableShape> lower_half() const { return std::nullopt; }
};

}  // namespace ringside::memory
