#pragma once

#include <optional>
#include <vector>

#include "unwind/code_unit.h"

namespace ringside::unwind::x86 {

// Where the functions of a file begin that have no symbols: at what calls go to, and at code whose
// address instructions or relocations take. Found by the looks of such instructions at any byte, so
// that some are none (of 12,000 in Debian's gdb one in twelve): what is made of them has to be
// checked. Functions that are only jumped to are missing. 0.4 MB of code take about 1 ms.
class FunctionStarts {
 public:
  explicit FunctionStarts(const elf::ElfFile& file);

  // The code from the last start up to the one behind `at`, symbols' included; nothing where the
  // last one is a symbol's.
  [[nodiscard]] std::optional<CodeRange> find(ImageAddr at) const;
  [[nodiscard]] const std::vector<ImageAddr>& all() const { return starts_; }
  [[nodiscard]] bool contains(ImageAddr start) const;
  // Whether a function may begin there: where compilers align them, or behind a return, a jump or a
  // call that may never return.
  [[nodiscard]] static bool may_begin(const elf::ElfFile& file, ImageAddr start);

 private:
  void add_references(const elf::ElfFile& file, const elf::Segment& segment);
  void add_relocations(const elf::ElfFile& file);
  void add(const elf::ElfFile& file, ImageAddr start) {
    if (file.is_code(start)) starts_.push_back(start);
  }

  std::vector<ImageAddr> starts_;   // sorted
  std::vector<ImageAddr> symbols_;  // sorted
};

}  // namespace ringside::unwind::x86
