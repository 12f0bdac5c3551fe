#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ringside::memory {

// The number of `count` low bits, fewer than 64, that are all set.
constexpr std::uint64_t low_bits(unsigned count) { return (std::uint64_t{1} << count) - 1; }

// One level of page tables: which bits of the address choose the entry, and whether an entry may
// map a page of its own instead of pointing to a table.
struct RadixLevel {
  std::uint8_t shift;        // of the lowest bit that chooses the entry
  std::uint8_t index_bits;   // how many
  bool may_be_page = false;  // always, at the last level

  bool operator==(const RadixLevel&) const = default;
};

// Page tables in numbers, for a walk by other means than this library's: a capture recipe, which
// runs inside of QEMU. Entries have 8 bytes.
struct TableShape {
  // True of an entry where entry & mask == value.
  struct Test {
    std::uint64_t mask = 0;
    std::uint64_t value = 0;
    bool operator==(const Test&) const = default;
  };
  // A part of the address in an entry: (entry & mask) << left.
  struct AddressBits {
    std::uint64_t mask = 0;
    unsigned left = 0;
    bool operator==(const AddressBits&) const = default;
  };

  unsigned address_bits = 0;       // of a virtual address; all above are 0
  std::vector<RadixLevel> levels;  // from the root down
  Test present;                    // the entry maps something
  Test table;                      // above the last level: it points to a table
  // Their sum is the address of the table or page; the second one's mask may be 0.
  std::array<AddressBits, 2> address;

  bool operator==(const TableShape&) const = default;
};

}  // namespace ringside::memory
