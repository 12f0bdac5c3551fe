#include "symbols/dwarf/line_table.h"

#include <algorithm>
#include <span>

#include "symbols/dwarf/line_program.h"

namespace ringside::symbols::dwarf {
namespace {

void append_path(std::string& path, std::string_view part) {
  if (part.empty()) return;
  if (!path.empty() && !path.ends_with('/')) path += '/';
  path += part;
}

}  // namespace

std::shared_ptr<const LineTable> LineTable::parse(const Unit& unit, std::uint64_t offset) {
  auto table = std::make_shared<LineTable>();
  LineProgram program(unit, offset, *table);
  if (!program.read_header()) return nullptr;
  program.run();
  table->rows_.shrink_to_fit();
  std::stable_sort(table->sequences_.begin(), table->sequences_.end(),
                   [](const Sequence& a, const Sequence& b) { return a.low < b.low; });
  return table;
}

const LineTable::Sequence* LineTable::sequence_of(std::uint64_t address, std::uint64_t end) const {
  const auto after =
      std::upper_bound(sequences_.begin(), sequences_.end(), address,
                       [](std::uint64_t at, const Sequence& s) { return at < s.low; });
  if (after == sequences_.begin()) return nullptr;
  const Sequence& nearest = *std::prev(after);
  if (!may_be_removed(nearest.low)) return address < nearest.high ? &nearest : nullptr;
  const std::span candidates(sequences_.begin(), after);
  if (candidates.size() == 1 && end != 0) return address < nearest.high ? &nearest : nullptr;
  const auto ends = [end](const Sequence& sequence) { return sequence.high == end; };
  const auto found = std::find_if(candidates.begin(), candidates.end(), ends);
  const bool is_one = std::count_if(candidates.begin(), candidates.end(), ends) == 1;
  return is_one && address < end ? &*found : nullptr;
}

const LineTable::Row* LineTable::find(std::uint64_t address, std::uint64_t end) const {
  const Sequence* sequence = sequence_of(address, end);
  if (sequence == nullptr) return nullptr;
  const auto begin = rows_.begin() + sequence->first;
  const auto row = std::upper_bound(
      begin, rows_.begin() + sequence->end, address - sequence->low,
      [](std::uint64_t at, const Row& candidate) { return at < candidate.offset; });
  return row == begin ? nullptr : &*std::prev(row);
}

std::string LineTable::file_name(std::uint64_t file) const {
  // Numbers count from 0 in DWARF 5 and from 1 before, where folder 0 is the compilation's own.
  const std::uint64_t index = version_ >= 5 ? file : file - 1;
  if (index >= files_.size()) return {};
  const File& entry = files_[index];
  if (entry.name.starts_with('/')) return std::string(entry.name);
  const std::uint64_t folder_index = version_ >= 5 ? entry.folder : entry.folder - 1;
  const std::string_view folder =
      folder_index < folders_.size() ? folders_[folder_index] : std::string_view();
  std::string path;
  if (!folder.starts_with('/')) path = comp_dir_;
  append_path(path, folder);
  append_path(path, entry.name);
  return path;
}

std::size_t LineTable::memory() const {
  return rows_.capacity() * sizeof(Row) + sequences_.capacity() * sizeof(Sequence) +
         files_.capacity() * sizeof(File) + folders_.capacity() * sizeof(std::string_view);
}

}  // namespace ringside::symbols::dwarf
