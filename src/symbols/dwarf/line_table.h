#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/dwarf/unit.h"

namespace ringside::symbols::dwarf {

// The line table of one unit (DWARF 2 to 5, section 6.2), run once and kept sorted: 12 bytes a row.
class LineTable {
 public:
  struct Row {
    std::uint32_t offset = 0;  // of its address from the sequence's first
    std::uint32_t line = 0;    // 0: code that belongs to no line
    std::uint16_t file = 0;
    std::uint16_t column = 0;
  };

  // A table that is damaged keeps the rows up to there. Null where there is no header to read.
  [[nodiscard]] static std::shared_ptr<const LineTable> parse(const Unit& unit,
                                                              std::uint64_t offset);

  // The row that the address belongs to; null outside of all sequences. `end`: where the function
  // ends that holds the address, 0 where none is found. Where the code may_be_removed(), only the
  // sequence that ends there counts, or the only one that there is.
  [[nodiscard]] const Row* find(std::uint64_t address, std::uint64_t end) const;

  // The path as the compiler was given it, made absolute with the compilation folder where that is
  // known. Empty for a number that is not in the table.
  [[nodiscard]] std::string file_name(std::uint64_t file) const;

  [[nodiscard]] std::size_t memory() const;

 private:
  friend class LineProgram;
  struct File {
    std::string_view name;
    std::uint64_t folder = 0;
  };
  struct Sequence {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint32_t first = 0;  // row
    std::uint32_t end = 0;
  };

  [[nodiscard]] const Sequence* sequence_of(std::uint64_t address, std::uint64_t end) const;

  std::uint16_t version_ = 0;
  std::string_view comp_dir_;
  std::vector<std::string_view> folders_;
  std::vector<File> files_;
  std::vector<Row> rows_;
  std::vector<Sequence> sequences_;  // by address
};

}  // namespace ringside::symbols::dwarf
