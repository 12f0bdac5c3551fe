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
#include "findings/facts.h"
#include "naming/given_kernel.h"
#include "profile/frame_namer.h"
#include "symbols/debug_files.h"
#include "symbols/demangle.h"
#include "symbols/symbol_file.h"
#include "symbols/symbolizer.h"

namespace ringside::naming {

// Names the frames of a recording from the files that its images name, as long as those are still
// the files that ran: a file with another build id, or without one with other code, is not used,
// and facts() has it. The symbols that the recording keeps stand for it. Images
// that were made of guest memory, and the names of those that were unpacked from a boot image, are
// in the recording.
class ImageSymbols final : public profile::FrameNamer {
 public:
  struct Options {
    symbols::DemangleStyle style = symbols::DemangleStyle::kFull;
    symbols::Inlines inlines = symbols::Inlines::kShow;
    bool beyond_sizes = false;  // Symbolizer::accept_beyond_sizes()
    symbols::DebugFileOptions files;
    GivenKernel::Options kernel = {};  // stands for the recorded one
  };
  explicit ImageSymbols(Options options)
      : options_(std::move(options)), given_(std::move(options_.kernel)) {}

  void name(const profile::FrameToName& what, profile::NamedFrame& out) override;
  [[nodiscard]] std::string shown(const std::string& recorded) const override {
    return symbols::demangle(recorded, options_.style);
  }
  // The file that has the code of a place, and how far it ran from where it is linked (guest
  // address minus linked address, modulo 2^64). The file may hold names alone. Nothing: no file is
  // known.
  struct CodeFile {
    std::shared_ptr<const elf::ElfFile> file;
    std::uint64_t load_bias = 0;
  };
  [[nodiscard]] std::optional<CodeFile> code_file(const profile::FrameToName& what);
  void image(const recording::ImageInfo& image) override;
  // Keeps the ELF files of images that were made of guest memory.
  void blob(const recording::Blob& blob) override;
  void function(const recording::ImageFunction& function) override;
  // How the names that were asked for so far were found. `is_filtered`: not all samples were asked
  // for.
  [[nodiscard]] findings::NameFacts facts(bool is_filtered = false) const;
  // All that facts() proves, a sentence each.
  [[nodiscard]] std::vector<std::string> warnings(bool is_filtered = false) const;

 private:
  using Loaded = std::optional<symbols::Symbolizer>;  // nothing where there are no names
  using ElfPointer = std::shared_ptr<const elf::ElfFile>;
  using OpenFile = Result<ElfPointer>;
  [[nodiscard]] Loaded& load(const recording::ImageInfo& image);
  void note_nameless(const recording::ImageInfo& image, bool is_given);
  void note_stripped(const recording::ImageInfo& image);
  void add_nameless(const recording::ImageInfo& image, Loaded& loaded);
  [[nodiscard]] const std::string& demangled(const std::string& raw);
  // `stored` is what take_stored() has given.
  [[nodiscard]] OpenFile open(const recording::ImageInfo& image, const OpenFile& stored);
  [[nodiscard]] OpenFile open_given(const recording::ImageInfo& image, const OpenFile& stored);
  // Where it cannot be opened, for the reason `why`: the symbols that the recording keeps, if any.
  [[nodiscard]] OpenFile open_kept(const recording::ImageInfo& image, const Error& why);
  // The file or symbols of the image that the recording holds; null where it holds none.
  [[nodiscard]] const OpenFile& stored_file(const recording::ImageInfo& image);
  [[nodiscard]] OpenFile take_stored(const recording::ImageInfo& image);
  // A file of the functions that the recording names, those that are in the image's file or those
  // that are not; null where it names none.
  [[nodiscard]] OpenFile named_functions(const recording::ImageInfo& image, bool in_file) const;
  struct Placed {
    const recording::ImageInfo* image;  // null: it is none of those that were recorded
    std::uint64_t bias;
  };
  [[nodiscard]] const Placed& placed_given();
  [[nodiscard]] std::optional<std::uint64_t> bias_of_given(const recording::ImageInfo& image);
  [[nodiscard]] const recording::ImageInfo* image_of(const profile::FrameToName& what);
  [[nodiscard]] std::uint64_t bias_of(const recording::ImageInfo& image) const;

  Options options_;
  GivenKernel given_;
  std::unordered_map<std::string, std::string> names_;  // demangled, by the raw name
  std::map<std::uint32_t, Loaded> images_;
  std::map<std::uint32_t, ElfPointer> files_;      // of images_
  std::map<std::uint32_t, ElfPointer> unpacked_;   // whose entries in files_ have names alone
  std::map<std::uint32_t, std::string> sources_;   // paths of the files that name images_
  std::map<std::uint32_t, std::uint64_t> biases_;  // of images that are overridden
  std::map<std::uint32_t, std::vector<std::byte>> stored_;  // by image
  std::map<std::uint32_t, OpenFile> stored_files_;
  std::map<std::uint32_t, std::vector<std::byte>> kept_;  // of images that have files
  std::map<std::uint32_t, std::vector<std::byte>> nameless_;
  struct Functions {
    std::vector<symbols::PackedFunction> list;
    bool in_file = false;
  };
  std::map<std::uint32_t, Functions> functions_;  // that the recording names one by one
  // That were recorded, by id; a recording may be read twice, and placed_ points to one.
  std::map<std::uint32_t, recording::ImageInfo> kernels_;
  std::optional<Placed> placed_;
  findings::NameFacts facts_;  // but those of given_
};

}  // namespace ringside::naming
