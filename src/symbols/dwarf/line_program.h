#pragma once

#include <array>
#include <cstdint>

#include "symbols/dwarf/line_table.h"

namespace ringside::symbols::dwarf {

// Reads a line program's header and runs its instructions into a LineTable.
class LineProgram {
 public:
  LineProgram(const Unit& unit, std::uint64_t offset, LineTable& table);

  // False where the header is damaged.
  [[nodiscard]] bool read_header();
  void run();

 private:
  bool read_folders_and_files();  // DWARF 2 to 4
  bool read_entry_formats(bool folders);
  void special(std::uint8_t opcode);
  void standard(std::uint8_t opcode);
  void extended();
  void advance(std::uint64_t operations);
  void add_row();
  void end_sequence();
  void reset();

  const Unit& unit_;
  LineTable& table_;
  ByteCursor cursor_;
  Format format_;
  std::uint64_t program_ = 0;  // offset of the first instruction
  std::uint8_t min_instruction_length_ = 1;
  std::int8_t line_base_ = 0;
  std::uint8_t line_range_ = 1;
  std::uint8_t opcode_base_ = 1;
  std::array<std::uint8_t, 256> operand_counts_{};

  // The state machine's registers, of those that matter here.
  std::uint64_t address_ = 0;
  std::uint64_t file_ = 1;
  std::uint64_t line_ = 1;
  std::uint64_t column_ = 0;
  // The sequence at hand.
  std::uint64_t start_ = 0;
  std::size_t first_row_ = 0;
  bool sorted_ = true;
};

}  // namespace ringside::symbols::dwarf
