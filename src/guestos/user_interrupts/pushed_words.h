#pragma once

#include <vector>

#include "elf/elf_file.h"
#include "guestos/user_interrupts/kernel_entry.h"
#include "unwind/x86/decoder.h"

namespace ringside::guestos {

// The constants that an x86 gate's code pushes first of all, below what hardware has pushed: most
// kernels have a stub for each vector that pushes its number and jumps to what all share.
class PushedWords {
 public:
  explicit PushedWords(const elf::ElfFile& file);
  [[nodiscard]] std::vector<PushedWord> of(ImageAddr gate, unsigned vector);
  // Where the instructions that push constants begin that end at `last`, or before it; else `last`.
  [[nodiscard]] ImageAddr first_push(ImageAddr last);

 private:
  [[nodiscard]] unwind::x86::Instruction decode(ImageAddr at);

  const elf::ElfFile& file_;
  std::int64_t word_;  // bytes
  unwind::x86::Decoder decoder_;
};

}  // namespace ringside::guestos
