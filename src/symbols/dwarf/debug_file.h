#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/dwarf/functions.h"
#include "symbols/dwarf/line_table.h"
#include "symbols/dwarf/unit.h"

namespace ringside::symbols::dwarf {

// A unit with what has been found in it so far.
struct UnitState {
  std::shared_ptr<const elf::ElfFile> file;  // set where nobody else holds the unit's bytes
  std::shared_ptr<const Unit> unit;
  std::shared_ptr<const LineTable> lines;
  bool lines_read = false;
  std::vector<FunctionRange> functions;
  bool functions_read = false;
  bool functions_thorough = false;
  std::uint64_t used = 0;  // by the clock of the DebugFile

  [[nodiscard]] std::size_t memory() const;
};

// The debug information of one file: which unit an address belongs to, and units by their offset.
// Units are read when they are asked for and forgotten, the longest unused first, when they take
// too much memory.
class DebugFile {
 public:
  // `file` is kept. Without .debug_info there are simply no units.
  explicit DebugFile(std::shared_ptr<const elf::ElfFile> file, std::string_view suffix = "");

  [[nodiscard]] const Sections& sections() const { return sections_; }
  [[nodiscard]] const elf::ElfFile& file() const { return *file_; }
  // The offset of the unit whose code holds the address: by .debug_aranges, and where that has
  // nothing by the ranges of the units that are not listed there. Several units may claim it where
  // the code may_be_removed(); no two elsewhere.
  [[nodiscard]] std::vector<std::uint64_t> units_of_address(std::uint64_t address);
  // The unit that begins at `offset`. Null where it is damaged.
  [[nodiscard]] std::shared_ptr<UnitState> unit(std::uint64_t offset);
  // The unit that an entry's offset lies in.
  [[nodiscard]] std::shared_ptr<UnitState> unit_of_entry(std::uint64_t entry);
  // Headers of all units, in order; the walk ends at one whose length is damaged.
  [[nodiscard]] const std::vector<UnitHeader>& headers();

  // Forgets units until what is left is small enough. Units that were handed out live on.
  void limit_memory();

 private:
  struct CodeRange {
    AddressRange range;
    std::uint64_t unit = 0;
  };
  void read_aranges();
  void add_other_units();
  // Adds the units of those that hold the address. True: no other can.
  [[nodiscard]] static bool find(const std::vector<CodeRange>& ranges, std::uint64_t address,
                                 std::vector<std::uint64_t>& units);

  std::shared_ptr<const elf::ElfFile> file_;
  Sections sections_;
  std::vector<CodeRange> aranges_;  // by address
  std::vector<std::uint64_t> units_in_aranges_;
  bool aranges_read_ = false;
  std::vector<CodeRange> other_ranges_;  // of units without aranges, by address
  bool others_read_ = false;
  std::vector<UnitHeader> headers_;
  bool headers_read_ = false;
  std::unordered_map<std::uint64_t, std::shared_ptr<UnitState>> units_;
  std::uint64_t clock_ = 0;
  std::shared_ptr<const AbbrevTable> last_abbrevs_;
  unsigned new_units_ = 0;  // since the last look at the memory
};

}  // namespace ringside::symbols::dwarf
