#include "symbols/dwarf/line_program.h"

#include <dwarf.h>

#include <algorithm>

namespace ringside::symbols::dwarf {
namespace {

constexpr std::uint32_t kIs64 = 0xffffffff;  // DWARF 5, section 7.4

std::uint16_t narrow(std::uint64_t value) {
  return value <= 0xffff ? static_cast<std::uint16_t>(value) : std::uint16_t{0};
}

}  // namespace

LineProgram::LineProgram(const Unit& unit, std::uint64_t offset, LineTable& table)
    : unit_(unit),
      table_(table),
      cursor_(unit.sections.line, offset),
      format_(unit.header.format) {}

bool LineProgram::read_header() {
  std::uint64_t length = cursor_.read<std::uint32_t>();
  format_.offset_size = 4;
  if (length == kIs64) {
    format_.offset_size = 8;
    length = cursor_.read<std::uint64_t>();
  }
  if (cursor_.failed()) return false;
  // A length that is too long is taken for the rest of the section.
  length = std::min<std::uint64_t>(length, cursor_.remaining());
  cursor_ = ByteCursor(unit_.sections.line.first(cursor_.offset() + length), cursor_.offset());
  format_.version = cursor_.read<std::uint16_t>();
  if (format_.version < 2 || format_.version > 5) return false;
  if (format_.version >= 5) {
    format_.address_size = cursor_.read<std::uint8_t>();
    if (cursor_.read<std::uint8_t>() != 0) return false;  // segment selectors
  }
  const std::uint64_t header_length = cursor_.read_unsigned(format_.offset_size);
  if (cursor_.failed() || header_length > cursor_.remaining()) return false;
  program_ = cursor_.offset() + header_length;
  min_instruction_length_ = cursor_.read<std::uint8_t>();
  if (format_.version >= 4) cursor_.skip(1);  // operations per instruction: 1 but for VLIW
  cursor_.skip(1);                            // default_is_stmt
  line_base_ = cursor_.read<std::int8_t>();
  line_range_ = cursor_.read<std::uint8_t>();
  opcode_base_ = cursor_.read<std::uint8_t>();
  for (unsigned opcode = 1; opcode < opcode_base_; ++opcode)
    operand_counts_[opcode] = cursor_.read<std::uint8_t>();
  if (cursor_.failed() || line_range_ == 0) return false;
  table_.version_ = format_.version;
  table_.comp_dir_ = unit_.comp_dir;
  if (format_.version < 5) return read_folders_and_files();
  return read_entry_formats(true) && read_entry_formats(false);
}

bool LineProgram::read_folders_and_files() {
  while (true) {
    const std::string_view folder = cursor_.read_c_string();
    if (cursor_.failed()) return false;
    if (folder.empty()) break;
    table_.folders_.push_back(folder);
  }
  while (true) {
    LineTable::File file{cursor_.read_c_string(), 0};
    if (cursor_.failed()) return false;
    if (file.name.empty()) return true;
    file.folder = cursor_.read_uleb();
    cursor_.skip_leb();  // time
    cursor_.skip_leb();  // size
    table_.files_.push_back(file);
  }
}

// DWARF 5, section 6.2.4, directory_entry_format_count and on.
bool LineProgram::read_entry_formats(bool folders) {
  struct EntryFormat {
    std::uint64_t content;
    std::uint16_t form;
  };
  std::array<EntryFormat, 255> formats{};
  const std::size_t format_count = cursor_.read<std::uint8_t>();
  if (format_count > formats.size()) return false;
  for (std::size_t i = 0; i < format_count; ++i) {
    formats[i].content = cursor_.read_uleb();
    formats[i].form = narrow(cursor_.read_uleb());
  }
  const std::uint64_t count = cursor_.read_uleb();
  if (cursor_.failed()) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    LineTable::File file;
    const std::size_t start = cursor_.offset();
    for (std::size_t k = 0; k < format_count; ++k) {
      const Value value = read_value(formats[k].form, 0, cursor_, format_);
      if (formats[k].content == DW_LNCT_path) file.name = unit_.string(value);
      if (formats[k].content == DW_LNCT_directory_index) file.folder = value.number;
    }
    // Entries without a byte would make any count possible.
    if (cursor_.failed() || cursor_.offset() == start) return false;
    if (folders)
      table_.folders_.push_back(file.name);
    else
      table_.files_.push_back(file);
  }
  return true;
}

void LineProgram::run() {
  cursor_.seek(program_);
  reset();
  while (!cursor_.empty()) {
    const auto opcode = cursor_.read<std::uint8_t>();
    if (opcode >= opcode_base_)
      special(opcode);
    else if (opcode == 0)
      extended();
    else
      standard(opcode);
  }
}

void LineProgram::reset() {
  address_ = 0;
  file_ = 1;
  line_ = 1;
  column_ = 0;
  sorted_ = true;
  first_row_ = table_.rows_.size();
}

void LineProgram::advance(std::uint64_t operations) {
  address_ += operations * min_instruction_length_;
}

void LineProgram::special(std::uint8_t opcode) {
  const unsigned adjusted = opcode - opcode_base_;
  advance(adjusted / line_range_);
  line_ += static_cast<std::uint64_t>(line_base_ + static_cast<int>(adjusted % line_range_));
  add_row();
}

void LineProgram::standard(std::uint8_t opcode) {
  switch (opcode) {
    case DW_LNS_copy:
      return add_row();
    case DW_LNS_advance_pc:
      return advance(cursor_.read_uleb());
    case DW_LNS_advance_line:
      line_ += static_cast<std::uint64_t>(cursor_.read_sleb());
      return;
    case DW_LNS_set_file:
      file_ = cursor_.read_uleb();
      return;
    case DW_LNS_set_column:
      column_ = cursor_.read_uleb();
      return;
    case DW_LNS_const_add_pc:
      return advance((255u - opcode_base_) / line_range_);
    case DW_LNS_fixed_advance_pc:
      address_ += cursor_.read<std::uint16_t>();
      return;
    default:
      for (unsigned i = 0; i < operand_counts_[opcode]; ++i) cursor_.skip_leb();
  }
}

void LineProgram::extended() {
  const std::uint64_t length = cursor_.read_uleb();
  if (cursor_.failed() || length == 0 || length > cursor_.remaining()) return cursor_.skip(~0ull);
  const std::uint64_t next = cursor_.offset() + length;
  switch (cursor_.read<std::uint8_t>()) {
    case DW_LNE_end_sequence:
      end_sequence();
      break;
    case DW_LNE_set_address:
      address_ = cursor_.read_unsigned(length - 1);
      break;
    case DW_LNE_define_file: {
      LineTable::File file{cursor_.read_c_string(), 0};
      file.folder = cursor_.read_uleb();
      table_.files_.push_back(file);
      break;
    }
    default:
      break;
  }
  cursor_.seek(next);
}

void LineProgram::add_row() {
  std::vector<LineTable::Row>& rows = table_.rows_;
  if (rows.size() == first_row_) start_ = address_;
  const std::uint64_t offset = address_ - start_;
  if (offset > 0xffffffff) return;  // no code is that far, or it goes back before the first row
  const LineTable::Row row{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(line_),
                           narrow(file_), narrow(column_)};
  // The last of several rows for one address counts.
  if (rows.size() > first_row_ && rows.back().offset == row.offset) {
    rows.back() = row;
    return;
  }
  if (rows.size() > first_row_ && row.offset < rows.back().offset) sorted_ = false;
  rows.push_back(row);
}

void LineProgram::end_sequence() {
  std::vector<LineTable::Row>& rows = table_.rows_;
  if (rows.size() > first_row_ && address_ > start_ && !unit_.sections.is_removed(start_)) {
    if (!sorted_)
      std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(first_row_), rows.end(),
                       [](const auto& a, const auto& b) { return a.offset < b.offset; });
    table_.sequences_.push_back({start_, address_, static_cast<std::uint32_t>(first_row_),
                                 static_cast<std::uint32_t>(rows.size())});
  } else {
    rows.resize(first_row_);
  }
  reset();
}

}  // namespace ringside::symbols::dwarf
