#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"
#include "profile/frame_namer.h"
#include "symbols/debug_files.h"
#include "symbols/demangle.h"
#include "symbols/symbol_list.h"
#include "symbols/symbolizer.h"

namespace ringside::session {

// Names the frames of a recording from the files that its images name, as long as those are still
// the files that ran: a file with another build id is not used, and that is said once in
// warnings(). Images that were made of guest memory, and the names of those that were unpacked from
// a boot image, are in the recording.
class ImageSymbols final : public profile::FrameNamer {
 public:
  struct Options {
    symbols::DemangleStyle style = symbols::DemangleStyle::kFull;
    symbols::Inlines inlines = symbols::Inlines::kShow;
    symbols::DebugFileOptions files;
    // May be empty; stands for the image named "kernel", wherever it was recorded from.
    std::string kernel_override;
    // The kernel's functions from a text (System.map), before those that its file has; its name is
    // for warnings.
    std::optional<symbols::SymbolList> kernel_symbols;
    std::string kernel_symbols_name;
  };
  explicit ImageSymbols(Options options) : options_(std::move(options)) {}

  void name(const profile::FrameToName& what, profile::NamedFrame& out) override;
  // Keeps the ELF files of images that were made of guest memory.
  void blob(const recording::Blob& blob) override;
  // Programs and libraries without symbols are told in one of them.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  using Loaded = std::optional<symbols::Symbolizer>;  // nothing where there are no names
  [[nodiscard]] Loaded& load(const recording::ImageInfo& image);
  void add_nameless(const recording::ImageInfo& image, Loaded& loaded);
  [[nodiscard]] const std::string& demangled(const std::string& raw);
  [[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open(const recording::ImageInfo& image);
  // `file` may be null. Nothing where the given symbols do not belong to it, which is warned of.
  [[nodiscard]] std::optional<symbols::SymbolTable> given_symbols(const elf::ElfFile* file);

  Options options_;
  std::unordered_map<std::string, std::string> names_;  // demangled, by the raw name
  std::map<std::uint32_t, Loaded> images_;
  std::map<std::uint32_t, std::vector<std::byte>> stored_;  // by image
  std::map<std::uint32_t, std::vector<std::byte>> nameless_;
  std::vector<std::string> warnings_;
  std::string stripped_;  // names of programs and libraries without symbols
};

}  // namespace ringside::session
