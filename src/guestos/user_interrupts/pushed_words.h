#pragma once

#include <vector>

#include "elf/elf_file.h"
#include "guestos/user_interrupts/kernel_entry.h"
#include "unwind/x86/decoder.h"

namespace ringside::guestos {

// Instructions in a row that push constants.
struct ConstantRun {
  enum class Begins : std::uint8_t {
    kElsewhere,
    kEntered,   // no instruction before goes on to it: a function, or a stub
    kBehindPc,  // code that `syscall` has entered has pushed rcx, which holds the pc
  };
  ImageAddr begin;
  Begins begins = Begins::kElsewhere;
  std::vector<std::uint64_t> values = {};
  ImageAddr goes_to;  // behind it, or to where the jump leads that follows
};

// The constants that an x86 gate's code pushes first of all, below what hardware has pushed: most
// kernels have a stub for each vector that pushes its number and jumps to what all share.
class PushedWords {
 public:
  explicit PushedWords(const elf::ElfFile& file);
  [[nodiscard]] std::vector<PushedWord> of(ImageAddr gate, unsigned vector);
  [[nodiscard]] ConstantRun run_at(ImageAddr begin);
  // The run that ends at `last`, or before it. One without values begins at `last`.
  [[nodiscard]] ConstantRun run_before(ImageAddr last);

 private:
  [[nodiscard]] unwind::x86::Instruction decode(ImageAddr at);
  [[nodiscard]] bool is_padding(ImageAddr at, const unwind::x86::Instruction& instruction) const;

  const elf::ElfFile& file_;
  std::int64_t word_;  // bytes
  unwind::x86::Decoder decoder_;
};

}  // namespace ringside::guestos
