#pragma once

#include <cstdint>
#include <vector>

#include "profile/detailed_profile.h"
#include "profile/string_table.h"

namespace ringside::exporters {

// Names without an address get one each from here on: in the kernel's half, where no architecture
// has its kernel.
inline constexpr std::uint64_t kNamesStart = std::uint64_t{0xfff} << 52;
inline constexpr std::uint64_t kNameSize = 16;

// The address at which a frame's function is found: a return address behind its last byte would be
// the next one's.
[[nodiscard]] std::uint64_t symbol_address(const profile::DetailedFrame& frame);

struct FrameSymbol {
  std::uint64_t start = 0;
  std::uint64_t end = 0;  // behind the last byte
  profile::StringId name = 0;
  std::uint64_t first_frame = 0;  // the lowest address of its frames
  std::uint64_t last_frame = 0;
  bool operator==(const FrameSymbol&) const = default;
};

// Makes symbols of frames, so that each frame is found under its name. A symbol goes as far as the
// frame's function does, where that is known, but never over a frame of another name; else from the
// first to the last of its frames that have no other between them.
class SymbolRanges {
 public:
  // Symbols stay within these addresses.
  SymbolRanges(std::uint64_t start, std::uint64_t end) : start_(start), end_(end), free_(start) {}

  // A frame, in order of their addresses. `start` and `size` are its function's; a size of 0 is not
  // known.
  void add(std::uint64_t address, std::uint64_t start, std::uint64_t size, profile::StringId name);
  // All symbols, by address; they do not overlap.
  [[nodiscard]] std::vector<FrameSymbol> take() { return std::move(symbols_); }

 private:
  std::uint64_t start_;
  std::uint64_t end_;
  std::uint64_t free_;  // behind the last frame
  std::uint64_t last_start_ = 0;
  std::uint64_t last_size_ = 0;
  std::vector<FrameSymbol> symbols_;
};

}  // namespace ringside::exporters
