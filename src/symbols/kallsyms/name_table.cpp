#include "symbols/kallsyms/name_table.h"

#include <algorithm>
#include <vector>

#include "base/little_endian.h"

namespace ringside::symbols::kallsyms {
namespace {

constexpr std::size_t kPerMarker = 256;
constexpr std::size_t kMinMarkers = 3;
// Bytes of 256 names: at least a length and a code each; Debian's have 2,500 to 6,000.
constexpr std::uint64_t kMinStep = kPerMarker * 2;
constexpr std::uint64_t kMaxStep = kPerMarker * 1024;
constexpr std::size_t kMaxSymbols = std::size_t{1} << 22;

// Numbers from `at` on that rise as markers do.
std::vector<std::uint64_t> read_markers(Bytes bytes, std::size_t at, std::size_t end,
                                        std::size_t width) {
  std::vector<std::uint64_t> markers;
  if (end - at < kMinMarkers * width || load_unsigned(bytes, at, width) != 0) return markers;
  const std::uint64_t first = load_unsigned(bytes, at + width, width);
  if (first < kMinStep || first > kMaxStep) return markers;
  markers.push_back(0);
  for (at += width; at + width <= end && markers.size() < kMaxSymbols / kPerMarker; at += width) {
    const std::uint64_t marker = load_unsigned(bytes, at, width);
    if (marker < markers.back() + kMinStep || marker > markers.back() + kMaxStep) break;
    markers.push_back(marker);
  }
  return markers;
}

// The end of `count` names from `begin` on, if every marker is where it should be.
std::optional<std::size_t> walk(Bytes bytes, std::size_t begin, std::size_t count,
                                const std::vector<std::uint64_t>& markers, bool long_lengths,
                                std::uint64_t& budget) {
  std::size_t at = begin;
  for (std::size_t i = 0; i < count; ++i) {
    if (budget == 0) return std::nullopt;
    --budget;
    if (i % kPerMarker == 0 && at - begin != markers[i / kPerMarker]) return std::nullopt;
    if (!next_name(bytes, at, long_lengths)) return std::nullopt;
  }
  return at;
}

class Search {
 public:
  Search(Bytes bytes, unsigned pointer_size, std::uint64_t& budget)
      : bytes_(bytes), pointer_size_(pointer_size), budget_(budget) {}

  std::optional<NameTable> in_front_of(std::size_t end) {
    // Between markers and tokens: at most 3 bytes a symbol (4 in 6.2's release candidates).
    const std::size_t lowest = end - std::min(end, kMaxSymbols * 4);
    for (std::size_t at = end / 4 * 4; at >= lowest + 4 && budget_ > 0;) {
      at -= 4;
      --budget_;
      if (load_unsigned(bytes_, at, 4) != 0) continue;
      // Markers have 8 bytes on 64-bit kernels until 4.19.
      for (const std::size_t width : {4u, 8u}) {
        if (width > pointer_size_) continue;
        const auto markers = read_markers(bytes_, at, end, width);
        if (markers.size() < kMinMarkers) continue;
        if (auto table = ending_at(at, markers)) return table;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<NameTable> ending_at(std::size_t end, const std::vector<std::uint64_t>& markers) {
    for (const std::size_t alignment : kAlignments) {
      if (end % alignment != 0) continue;
      const std::uint64_t reach = markers.back() + kMaxStep;
      const std::size_t lowest = std::max<std::size_t>(alignment, end - std::min(end, reach));
      for (std::size_t begin = (end - markers[1]) / alignment * alignment;
           begin >= lowest && begin <= end && budget_ > 0; begin -= alignment) {
        --budget_;
        if (auto table = between(begin, end, alignment, markers)) return table;
      }
    }
    return std::nullopt;
  }

  std::optional<NameTable> between(std::size_t begin, std::size_t end, std::size_t alignment,
                                   const std::vector<std::uint64_t>& markers) {
    const std::uint64_t count = load_unsigned(bytes_, begin - alignment, 4);
    const std::size_t marker_count = (count + kPerMarker - 1) / kPerMarker;
    if (marker_count < kMinMarkers || marker_count > markers.size()) return std::nullopt;
    if (markers[marker_count - 1] >= end - begin) return std::nullopt;
    for (const bool long_lengths : {true, false}) {
      const auto names_end = walk(bytes_.first(end), begin, count, markers, long_lengths, budget_);
      if (names_end && align_up(*names_end, alignment) == end)
        return NameTable{.count_at = begin - alignment,
                         .begin = begin,
                         .end = *names_end,
                         .count = static_cast<std::uint32_t>(count),
                         .alignment = alignment,
                         .long_lengths = long_lengths};
    }
    return std::nullopt;
  }

  Bytes bytes_;
  unsigned pointer_size_;
  std::uint64_t& budget_;
};

}  // namespace

std::optional<Bytes> next_name(Bytes bytes, std::size_t& at, bool long_lengths) {
  if (at >= bytes.size()) return std::nullopt;
  auto length = std::to_integer<std::size_t>(bytes[at++]);
  if (long_lengths && length >= 0x80) {
    if (at >= bytes.size()) return std::nullopt;
    length = (length & 0x7f) | std::to_integer<std::size_t>(bytes[at++]) << 7;
  }
  if (length == 0 || length > bytes.size() - at) return std::nullopt;
  const Bytes name = bytes.subspan(at, length);
  at += length;
  return name;
}

std::optional<NameTable> find_names(Bytes bytes, const TokenTable& tokens, unsigned pointer_size,
                                    std::uint64_t& budget) {
  return Search(bytes, pointer_size, budget).in_front_of(tokens.begin);
}

}  // namespace ringside::symbols::kallsyms
