#pragma once

#include <bitset>
#include <map>
#include <span>
#include <vector>

#include "elf/elf_file.h"
#include "guestos/user_interrupts/code_flow.h"

namespace ringside::guestos {

inline constexpr std::size_t kMostEntries = 512;
// Which entries of a list; the last bit stands for all other ways into the code.
using EntrySet = std::bitset<kMostEntries + 1>;

// The code of a kernel's entries: from where hardware enters to the first call, and behind that as
// far as the flow of control stays within a function. Code that entries share behind their first
// call is often shared with system calls, too, and is left out. A function that a call leads to is
// no code of an entry. Code whose address is formed elsewhere has other ways to it, as a return
// leads there; an entry's own address is formed for the hardware. Functions are those of symbols: a
// file without any has no such code.
class CodeOfEntries {
 public:
  CodeOfEntries() = default;
  // At most kMostEntries, which have their places in the list as numbers. Other ways to where one
  // begins that is none of `interrupts` are that entry.
  CodeOfEntries(const elf::ElfFile& file, std::span<const ImageAddr> entries,
                const EntrySet& interrupts);

  // The entries whose code holds the instruction around `at`; none where it is no entry's.
  [[nodiscard]] EntrySet entries_at(ImageAddr at) const;
  // An entry that is none of the interrupts goes on, before its first call, at an address that its
  // code does not show: any code may be its own.
  [[nodiscard]] bool leads_anywhere() const { return leads_anywhere_; }
  // Instructions outside of that code that lead into it. The code from there on has the last bit.
  [[nodiscard]] const std::vector<ImageAddr>& other_ways() const { return other_ways_; }

 private:
  struct Instruction {
    ImageAddr address;
    std::uint8_t size = 0;
    EntrySet entries;
  };
  std::vector<Instruction> code_;  // sorted by address
  std::vector<ImageAddr> other_ways_;
  bool leads_anywhere_ = false;
};

}  // namespace ringside::guestos
