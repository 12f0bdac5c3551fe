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
#include "symbols/demangle.h"
#include "symbols/symbol_table.h"

namespace ringside::session {

// Names the frames of a recording from the files that its images name, as long as those are still
// the files that ran: a file with another build id is not used, and that is said once in
// warnings().
class ImageSymbols final : public profile::FrameNamer {
 public:
  // `kernel_override` (may be empty) stands for the image named "kernel", wherever it was recorded
  // from.
  ImageSymbols(symbols::DemangleStyle style, std::string kernel_override)
      : style_(style), kernel_override_(std::move(kernel_override)) {}

  void name(const profile::FrameToName& what, profile::NamedFrame& out) override;
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Loaded {
    std::optional<symbols::SymbolTable> table;
    std::unordered_map<std::uint64_t, std::string> names;  // demangled, by the symbol's start
  };
  [[nodiscard]] Loaded& load(const recording::ImageInfo& image);
  [[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open(const recording::ImageInfo& image);

  symbols::DemangleStyle style_;
  std::string kernel_override_;
  std::map<std::uint32_t, Loaded> images_;
  std::vector<std::string> warnings_;
};

}  // namespace ringside::session
