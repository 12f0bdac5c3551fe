#pragma once

#include <optional>
#include <vector>

#include "unwind/code_unit.h"

namespace ringside::unwind::x86 {

// Where the functions of a file begin that have no symbols: at what calls go to, and at code whose
// address instructions or relocations take. Found by the looks of such instructions at any byte, so
// that some are none (of 12,000 in Debian's gdb one in twelve): what is made of them has to be
// checked. 0.4 MB of code take about 1 ms; of a file with very much code a part is looked at.
class FunctionStarts {
 public:
  // `file` must outlive it.
  explicit FunctionStarts(const elf::ElfFile& file);

  // The code from the last start up to the one behind `at`, symbols' included; nothing where the
  // last one is a symbol's, or too far off.
  [[nodiscard]] std::optional<CodeRange> find(ImageAddr at) const;
  // The same from each of the starts in front of `at`, the nearest one first, eight at most: the
  // last one may be a place in a function.
  [[nodiscard]] std::vector<CodeRange> find_around(ImageAddr at) const;
  // The same from where compilers align functions, behind padding or what ends one; that is as many
  // places in a function. Eight at most, from the last 4 KiB.
  [[nodiscard]] std::vector<CodeRange> find_padded(ImageAddr at) const;
  // The same from what long jumps go to instead, the nearest one first, eight at most: a few of
  // these are functions that are only jumped to, and most are places in a function.
  [[nodiscard]] std::vector<CodeRange> find_jumped_to(ImageAddr at) const;
  [[nodiscard]] const std::vector<ImageAddr>& all() const { return starts_; }
  [[nodiscard]] bool contains(ImageAddr start) const;
  [[nodiscard]] bool is_symbol(ImageAddr start) const;
  // Whether a function may begin there: where compilers align them, or behind a return, or what
  // looks like a jump or a call (which may never return).
  [[nodiscard]] bool may_begin(ImageAddr start) const;
  // Size of the executable segments, as far as they are in the file and are examined.
  [[nodiscard]] std::uint64_t code_bytes() const;
  [[nodiscard]] std::size_t memory_use() const;  // bytes

 private:
  struct Code {
    ImageAddr start;
    Bytes bytes;
  };
  [[nodiscard]] const Code* code_at(ImageAddr address) const;
  void add(ImageAddr start, std::vector<ImageAddr>& starts) const;
  void add_references(const elf::ElfFile& file, const Code& code);
  void add_relocations(const elf::ElfFile& file);
  [[nodiscard]] CodeRange up_to_next(ImageAddr start) const;
  // To the next start behind `at`.
  [[nodiscard]] CodeRange over(ImageAddr start, ImageAddr at) const;

  std::vector<Code> code_;
  std::vector<ImageAddr> starts_;   // sorted
  std::vector<ImageAddr> jumps_;    // sorted
  std::vector<ImageAddr> symbols_;  // sorted
};

}  // namespace ringside::unwind::x86
