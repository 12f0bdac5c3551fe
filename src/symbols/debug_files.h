#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/symbolizer.h"

namespace ringside::symbols {

struct DebugFileOptions {
  // Where distributions install separate debug information.
  std::vector<std::filesystem::path> folders{"/usr/lib/debug"};
  // Ask the servers of $DEBUGINFOD_URLS, over the network.
  bool debuginfod = false;
};

// Finds on this machine the files that hold a file's debug information, by the rules of gdb ("18.3
// Debugging Information in Separate Files"), and takes none that does not belong to it.
class DebugFiles final : public SupplementaryFiles {
 public:
  explicit DebugFiles(DebugFileOptions options) : options_(std::move(options)) {}

  // The file that `file`'s debug information was moved to: by its build id, by its
  // .gnu_debuglink (whose checksum must be right), by its own path below a debug folder, and from
  // debuginfod if that is wanted. Null: not found.
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> separate(const elf::ElfFile& file);

  std::shared_ptr<const elf::ElfFile> alternate(const elf::ElfFile& file) override;
  std::shared_ptr<const elf::ElfFile> package(const elf::ElfFile& file) override;
  std::shared_ptr<const elf::ElfFile> split(const elf::ElfFile& file, std::string_view comp_dir,
                                            std::string_view name) override;

 private:
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> by_build_id(Bytes id);
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> by_debuglink(const elf::ElfFile& file);
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> by_path(const elf::ElfFile& file);

  DebugFileOptions options_;
};

// All that can be found about a file: its symbol table, the one in its .gnu_debugdata
// ("MiniDebugInfo"), and its debug information, wherever that is.
[[nodiscard]] Symbolizer open_symbolizer(std::shared_ptr<const elf::ElfFile> file,
                                         const DebugFileOptions& options, Inlines inlines);

}  // namespace ringside::symbols
