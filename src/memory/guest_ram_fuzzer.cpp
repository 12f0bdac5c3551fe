// Output of a monitor for `info mtree -f` and, behind a zero byte, `info ramblock`: the ranges that
// follow must keep to their blocks, without overlaps. And the same text as a process's memory map.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "memory/guest_ram.h"
#include "memory/host_mappings.h"

namespace {

using namespace ringside;

void check(const memory::RamMap& map) {
  std::uint64_t end = 0;
  for (const memory::RamRange& range : map.ranges) {
    const memory::RamBlock& block = map.blocks.at(range.block);
    if (range.bytes == 0 || range.offset > block.bytes || range.bytes > block.bytes - range.offset)
      std::abort();
    if (range.start.value < end || range.start.value + range.bytes < range.start.value)
      std::abort();
    end = range.start.value + range.bytes;
    const auto piece = memory::find_ram(map.ranges, range.start, 4096);
    if (!piece || piece->offset != range.offset || piece->bytes > range.bytes) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = std::min(text.find('\0'), text.size());
  const auto map =
      memory::parse_ram_map(text.substr(0, middle), text.substr(std::min(middle + 1, text.size())));
  if (map) check(*map);
  const auto mappings = memory::parse_mappings(text);
  for (const memory::HostMapping& fitting : memory::block_candidates(mappings, 4096))
    if (fitting.end - fitting.start < 4096) std::abort();
  const auto* found = memory::find_mapping(mappings, 0x7f0000001000, 0x1000);
  if (found != nullptr && found->end < 0x7f0000002000) std::abort();
  return 0;
}
