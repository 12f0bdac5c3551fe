#pragma once

#include <cstdint>
#include <optional>

// Page tables of riscv64's supervisor and user mode: Sv39, Sv48, Sv57 and Svnapot (The RISC-V
// Instruction Set Manual, volume II, "Supervisor-Level ISA"). For walks of whatever kind.
namespace ringside::arch::riscv64 {

inline constexpr unsigned kPageBits = 12;  // 4 KiB
inline constexpr unsigned kIndexBits = 9;  // of each level

// The number of levels by the value of satp, 3 to 5; 0 where nothing is translated, nothing where
// its mode has no definition: table "Encoding of satp MODE field".
constexpr std::optional<unsigned> levels_of(std::uint64_t satp) {
  const std::uint64_t mode = satp >> 60;
  if (mode == 0) return 0;
  if (mode >= 8 && mode <= 10) return static_cast<unsigned>(mode - 5);
  return std::nullopt;
}

// The physical address of the root table.
constexpr std::uint64_t root_of(std::uint64_t satp) {
  return (satp & ((std::uint64_t{1} << 44) - 1)) << kPageBits;
}

// One entry, decoded: figure "Sv39 page table entry" and the algorithm of section "Virtual Address
// Translation Process".
struct TableEntry {
  static constexpr std::uint64_t kValid = 1, kRead = 2, kWrite = 4, kExecute = 8;
  static constexpr std::uint64_t kNapot = std::uint64_t{1} << 63;
  enum class Kind : std::uint8_t { kNotPresent, kTable, kPage };
  Kind kind = Kind::kNotPresent;
  std::uint64_t address = 0;  // physical: of the table, or of the page that `virtual_address` is in

  // `level`: how many levels lie below the entry's own.
  static constexpr TableEntry decode(std::uint64_t entry, unsigned level,
                                     std::uint64_t virtual_address) {
    const std::uint64_t frame = entry >> 10 & ((std::uint64_t{1} << 44) - 1);
    if ((entry & kValid) == 0 || (entry & (kRead | kWrite)) == kWrite) return {};
    if ((entry & (kRead | kExecute)) == 0) {
      if (level == 0) return {};
      return {Kind::kTable, frame << kPageBits};
    }
    const std::uint64_t below = (std::uint64_t{1} << kIndexBits * level) - 1;
    if ((frame & below) != 0) return {};  // a misaligned superpage
    if ((entry & kNapot) == 0) return {Kind::kPage, frame << kPageBits};
    // Svnapot: the low bits 1000 of the frame say 64 KiB, and are the address's own.
    if (level != 0 || (frame & 0xf) != 8) return {};
    return {Kind::kPage, (frame & ~std::uint64_t{0xf}) << kPageBits | (virtual_address & 0xf000)};
  }
};

}  // namespace ringside::arch::riscv64
