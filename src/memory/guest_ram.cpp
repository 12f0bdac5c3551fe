#include "memory/guest_ram.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/split.h"

namespace ringside::memory {
namespace {

constexpr std::uint64_t kMostRam = std::uint64_t{1} << 52;  // ranges must not wrap around
constexpr std::size_t kMostRanges = 4096;
constexpr std::uint64_t kDisplayWindow = 0xa0000;
constexpr std::uint64_t kDisplayWindowEnd = 0xc0000;

std::optional<std::uint64_t> hex_number(std::string_view word) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> prefixed_hex(std::string_view word) {
  if (!word.starts_with("0x")) return std::nullopt;
  return hex_number(word.substr(2));
}

// "              pc.ram    4 KiB  0x0000000000000000 0x0000000020000000 0x0000000020000000": name,
// page size (two words), offset, used, total (softmmu/physmem.c, ram_block_format, 7.2), and in
// newer ones the address and "rw" (system/physmem.c, 10.0).
std::vector<RamBlock> parse_blocks(std::string_view text) {
  std::vector<RamBlock> blocks;
  while (!text.empty() && blocks.size() < kMostRanges) {
    std::string_view line = take_line(text);
    RamBlock block;
    block.name = take_word(line);
    for (int skipped = 0; skipped < 3; ++skipped) (void)take_word(line);
    const auto used = prefixed_hex(take_word(line));
    (void)take_word(line);
    if (!used || *used == 0 || *used > kMostRam) continue;
    block.bytes = *used;
    block.host_address = prefixed_hex(take_word(line)).value_or(0);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

struct FlatRange {
  RamRange range;
  std::string_view name;  // of the region, and what may follow it (" KVM")
};

// "  0000000000100000-000000001fffffff (prio 0, ram): pc.ram @0000000000100000"
// (softmmu/memory.c, mtree_print_flatview, 7.2).
std::optional<FlatRange> parse_range(std::string_view line) {
  constexpr std::array<std::string_view, 2> kKinds{", ram): ", ", rom): "};
  const std::string_view place = take_word(line);
  const std::size_t dash = place.find('-');
  const std::size_t kind = std::min(line.find(kKinds[0]), line.find(kKinds[1]));
  if (dash == place.npos || kind == line.npos || !line.starts_with(" (prio ")) return std::nullopt;
  const auto first = hex_number(place.substr(0, dash));
  const auto last = hex_number(place.substr(dash + 1));
  if (!first || !last || *last < *first || *last >= kMostRam) return std::nullopt;
  FlatRange found;
  found.range.start = GuestPhys{*first};
  found.range.bytes = *last - *first + 1;
  found.name = line.substr(kind + kKinds[0].size());
  if (const std::size_t at = found.name.find(" @"); at != found.name.npos) {
    std::string_view behind = found.name.substr(at + 2);
    const auto offset = hex_number(take_word(behind));
    if (!offset || *offset > kMostRam) return std::nullopt;
    found.range.offset = *offset;
    found.name = found.name.substr(0, at);
  }
  return found;
}

std::vector<FlatRange> parse_view(std::string_view text) {
  std::vector<FlatRange> ranges;
  bool is_memory = false;
  while (!text.empty() && ranges.size() < kMostRanges) {
    const std::string_view line = take_line(text);
    if (line.starts_with("FlatView ")) {
      if (!ranges.empty()) break;
      is_memory = false;
    } else if (line.starts_with(" AS \"memory\",")) {
      is_memory = true;
    } else if (is_memory) {
      if (const auto range = parse_range(line)) ranges.push_back(*range);
    }
  }
  return ranges;
}

bool is_named(std::string_view region, std::string_view block) {
  return region.starts_with(block) &&
         (region.size() == block.size() || region[block.size()] == ' ');
}

// The number of a block in the map, which gets it if it has not.
std::size_t block_in(RamMap& map, const RamBlock& block) {
  const auto known = std::find_if(map.blocks.begin(), map.blocks.end(),
                                  [&](const RamBlock& other) { return other.name == block.name; });
  if (known != map.blocks.end()) return static_cast<std::size_t>(known - map.blocks.begin());
  map.blocks.push_back(block);
  return map.blocks.size() - 1;
}

void leave_display_window_out(RamRange& range) {
  if (range.start.value < kDisplayWindow || range.start.value >= kDisplayWindowEnd) return;
  const std::uint64_t cut = std::min(kDisplayWindowEnd - range.start.value, range.bytes);
  range = {range.start + cut, range.bytes - cut, range.offset + cut, range.block};
}

}  // namespace

Result<RamMap> parse_ram_map(std::string_view info_mtree_flat, std::string_view info_ramblock) {
  const std::vector<RamBlock> blocks = parse_blocks(info_ramblock);
  RamMap map;
  std::uint64_t end = 0;
  for (FlatRange& found : parse_view(info_mtree_flat)) {
    RamRange range = found.range;
    leave_display_window_out(range);
    if (range.bytes == 0 || range.start.value < end) continue;
    const auto block = std::find_if(blocks.begin(), blocks.end(), [&](const RamBlock& other) {
      return is_named(found.name, other.name);
    });
    if (block == blocks.end() || range.offset > block->bytes ||
        range.bytes > block->bytes - range.offset)
      continue;
    end = range.start.value + range.bytes;
    range.block = block_in(map, *block);
    map.ranges.push_back(range);
  }
  if (map.ranges.empty())
    return fail(ErrorCode::kUnsupported, "QEMU's monitor does not say where the machine has RAM");
  return map;
}

std::optional<RamPiece> find_ram(const std::vector<RamRange>& ranges, GuestPhys address,
                                 std::size_t bytes) {
  for (const RamRange& range : ranges) {
    const std::uint64_t within = address - range.start;
    if (within < range.bytes)
      return RamPiece{
          range.block, range.offset + within,
          static_cast<std::size_t>(std::min<std::uint64_t>(bytes, range.bytes - within))};
  }
  return std::nullopt;
}

}  // namespace ringside::memory
