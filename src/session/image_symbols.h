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
    // How far kernel_override is from where it is linked (guest address minus linked address,
    // modulo 2^64). Nothing: as recorded; of a kernel that was found in the guest's memory, where
    // its functions were.
    std::optional<std::uint64_t> kernel_load_bias;
    // The kernel's functions from a text (System.map), before those that its file has; its name is
    // for warnings.
    std::optional<symbols::SymbolList> kernel_symbols;
    std::string kernel_symbols_name;
  };
  explicit ImageSymbols(Options options) : options_(std::move(options)) {}

  void name(const profile::FrameToName& what, profile::NamedFrame& out) override;
  // Keeps the ELF files of images that were made of guest memory.
  void blob(const recording::Blob& blob) override;
  // Programs and libraries without symbols are reported in one of them, those of which no file is
  // known in another.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  using Loaded = std::optional<symbols::Symbolizer>;  // nothing where there are no names
  [[nodiscard]] Loaded& load(const recording::ImageInfo& image);
  void note_stripped(const recording::ImageInfo& image);
  void add_nameless(const recording::ImageInfo& image, Loaded& loaded);
  [[nodiscard]] const std::string& demangled(const std::string& raw);
  [[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open(const recording::ImageInfo& image);
  [[nodiscard]] bool is_overridden(const recording::ImageInfo& image) const;
  // The load bias of the file that stands for the recorded one.
  [[nodiscard]] Result<std::uint64_t> find_bias(const recording::ImageInfo& image,
                                                const elf::ElfFile& file) const;
  [[nodiscard]] const recording::ImageInfo* image_of(const profile::FrameToName& what);
  // `file` may be null. Nothing where the given symbols do not belong to it, which is warned of.
  [[nodiscard]] std::optional<symbols::SymbolTable> given_symbols(const elf::ElfFile* file);

  Options options_;
  std::unordered_map<std::string, std::string> names_;  // demangled, by the raw name
  std::map<std::uint32_t, Loaded> images_;
  std::map<std::uint32_t, std::uint64_t> biases_;  // of images that are overridden
  recording::ImageInfo unseen_kernel_;             // of recordings that have none
  bool asked_for_bias_ = false;
  std::map<std::uint32_t, std::vector<std::byte>> stored_;  // by image
  std::map<std::uint32_t, std::vector<std::byte>> nameless_;
  std::vector<std::string> warnings_;
  std::vector<std::string> stripped_;      // programs and libraries without symbols, each name once
  std::size_t programs_without_file_ = 0;  // and without symbols: the guest has no names for them
};

}  // namespace ringside::session
