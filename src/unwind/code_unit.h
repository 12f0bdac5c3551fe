#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elf/elf_file.h"

namespace ringside::unwind {

struct CodeRange {
  ImageAddr start;
  std::uint64_t size = 0;

  [[nodiscard]] bool contains(ImageAddr at) const { return at - start < size; }
};

// A function as the compiler saw it: its own range first, then the cold parts that were moved away
// (".cold", ".cold.1"), which begin with the frame of the place that jumps to them.
struct CodeUnit {
  std::vector<CodeRange> ranges;
  // No symbol says where the function ends, if one says that it is there.
  bool is_assumed = false;

  [[nodiscard]] ImageAddr start() const { return ranges.front().start; }
  [[nodiscard]] bool contains(ImageAddr at) const {
    for (const CodeRange& range : ranges)
      if (range.contains(at)) return true;
    return false;
  }
};

// The functions of an image, from its symbols.
class CodeUnits {
 public:
  explicit CodeUnits(const elf::ElfFile& file);
  // Nothing where no symbol covers `at`.
  [[nodiscard]] std::optional<CodeUnit> find(ImageAddr at) const;

 private:
  struct Function {
    CodeRange range;
    std::string_view name;
    bool is_unsized = false;
  };
  [[nodiscard]] const Function* function_at(ImageAddr at) const;

  std::vector<Function> functions_;                                    // sorted by start
  std::unordered_multimap<std::string_view, std::size_t> cold_parts_;  // by the parent's name
  std::unordered_multimap<std::string_view, std::size_t> parents_;     // of those with cold parts
};

}  // namespace ringside::unwind
