// What a monitor prints for `info ramblock`, and a process's memory map: the layouts that follow
// must keep to the block, without overlaps.

#include <cstdint>
#include <cstdlib>
#include <span>

#include "memory/guest_ram.h"
#include "memory/process_memory.h"

namespace {

using namespace ringside;

void check(const memory::RamBlock& block) {
  for (const memory::RamLayout& layout : memory::ram_layouts(block)) {
    std::uint64_t end = 0;
    for (const memory::RamRange& range : layout.ranges) {
      if (range.offset > block.bytes || range.bytes > block.bytes - range.offset) std::abort();
      if (range.start.value < end || range.start.value + range.bytes < range.start.value)
        std::abort();
      end = range.start.value + range.bytes;
      const auto piece = memory::find_ram(layout.ranges, range.start, 4096);
      if (range.bytes > 0 && (!piece || piece->offset != range.offset)) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto block = memory::find_machine_ram(text);
  if (block) check(*block);
  if (memory::block_candidates(text, block ? block->bytes : 4096).size() > size) std::abort();
  return 0;
}
