#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "elf/elf_file.h"
#include "symbols/dwarf/debug_file.h"

namespace ringside::symbols {

// A function at an address, and the place in the source that it stands at.
struct SourceFrame {
  std::string function;      // the linkage name as in the file where there is one; may be empty
  std::string file;          // absolute where the file says enough; may be empty
  std::uint32_t line = 0;    // 0: unknown
  std::uint32_t column = 0;  // 0: unknown
  bool inlined = false;      // into the frame behind it
  // The range of the symbol that gave the name, as linked. `size` 0: no symbol did.
  ImageAddr start;
  std::uint64_t size = 0;

  bool operator==(const SourceFrame&) const = default;
};

// Where the parts of debug information are that do not lie in the file itself.
class SupplementaryFiles {
 public:
  virtual ~SupplementaryFiles() = default;
  // The file that dwz moved common entries to (.gnu_debugaltlink). Null: not found.
  virtual std::shared_ptr<const elf::ElfFile> alternate(const elf::ElfFile& file) = 0;
  // The .dwp file of a program, which holds the split units of all its .dwo files. Null: not found.
  virtual std::shared_ptr<const elf::ElfFile> package(const elf::ElfFile& file) = 0;
  // The .dwo file `name` of a unit that was compiled in the folder `comp_dir`. Null: not found.
  virtual std::shared_ptr<const elf::ElfFile> split(const elf::ElfFile& file,
                                                    std::string_view comp_dir,
                                                    std::string_view name) = 0;
};

// Functions, inlined calls and source lines of one image by DWARF 2 to 5. Reads from the mapped
// file what the asked addresses need: of a 590 MB Linux kernel, about 80 µs for the first address
// in a compilation unit and 3 µs for another, and some 30 KB of memory a unit; units that were not
// used for long are forgotten above 96 MB. Damaged information gives fewer frames, never an error.
// One thread at a time.
class DwarfSymbols {
 public:
  // Null if the file has no debug information. `files` may be null: then only what the file itself
  // holds is known.
  [[nodiscard]] static std::unique_ptr<DwarfSymbols> from_elf(
      std::shared_ptr<const elf::ElfFile> file,
      std::shared_ptr<SupplementaryFiles> files = nullptr);

  // The frames at an address as linked, innermost first, the one that was compiled there last. For
  // a return address, ask for the byte before it. Empty: no compilation unit has code there.
  [[nodiscard]] std::vector<SourceFrame> lookup(ImageAddr address);

 private:
  // A unit and the file that its references lead through; null for a split unit.
  struct Place {
    std::shared_ptr<dwarf::UnitState> state;
    dwarf::DebugFile* file = nullptr;
  };

  DwarfSymbols(std::shared_ptr<const elf::ElfFile> file, std::shared_ptr<SupplementaryFiles> files)
      : main_(std::move(file)), files_(std::move(files)) {}

  // The frames by the debug information of one unit that may have code at the address.
  [[nodiscard]] std::vector<SourceFrame> lookup(std::uint64_t unit, std::uint64_t address);
  [[nodiscard]] const dwarf::FunctionRange* find_function(const Place& place,
                                                          std::uint64_t address);
  // Whether a symbol of the file proves that the function is where its range is, and not removed.
  [[nodiscard]] bool is_there(const Place& place, const dwarf::FunctionRange& function);
  [[nodiscard]] std::string_view name_of(Place place, std::uint64_t entry);
  [[nodiscard]] std::string_view string(const Place& place, const dwarf::Value& value);
  [[nodiscard]] dwarf::DebugFile* alternate();
  [[nodiscard]] std::shared_ptr<dwarf::UnitState> split_unit(const dwarf::Unit& skeleton);
  [[nodiscard]] std::shared_ptr<dwarf::UnitState> read_split(const dwarf::Unit& skeleton);

  dwarf::DebugFile main_;
  std::shared_ptr<SupplementaryFiles> files_;
  std::unique_ptr<dwarf::DebugFile> alternate_;
  bool alternate_read_ = false;
  std::shared_ptr<const elf::ElfFile> package_;
  bool package_read_ = false;
  std::map<std::uint64_t, std::shared_ptr<dwarf::UnitState>> splits_;  // by the skeleton's offset
};

}  // namespace ringside::symbols
