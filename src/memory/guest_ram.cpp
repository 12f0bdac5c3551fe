#include "memory/guest_ram.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace ringside::memory {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kGiB = 1u << 30;
constexpr std::uint64_t kMostRam = std::uint64_t{1} << 48;  // layouts must not wrap around
constexpr std::array<std::string_view, 3> kNames{"pc.ram", "mach-virt.ram", "riscv_virt_board.ram"};

// The next word of a line, which is shortened by it.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

std::optional<std::uint64_t> hex_number(std::string_view word) {
  if (!word.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(word.data() + 2, word.data() + word.size(), value, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size()) return std::nullopt;
  return value;
}

// hw/i386/pc.c, pc_memory_init (7.2): the block's start from 0 up, its rest from 4 GiB up. Between
// 640 KiB and 1 MiB are the display's memory and the BIOS, which hides RAM.
RamLayout pc_layout(std::uint64_t bytes, std::uint64_t low, std::string_view host_bridge) {
  constexpr std::uint64_t kBaseMemory = 0xa0000;
  low = std::min(low, bytes);
  RamLayout layout;
  layout.host_bridge = host_bridge;
  layout.ranges.push_back({GuestPhys{0}, std::min(low, kBaseMemory), 0});
  if (low > kMiB) layout.ranges.push_back({GuestPhys{kMiB}, low - kMiB, kMiB});
  if (bytes > low) layout.ranges.push_back({GuestPhys{4 * kGiB}, bytes - low, low});
  return layout;
}

}  // namespace

// "              pc.ram    4 KiB  0x0000000000000000 0x0000000020000000 0x0000000020000000": name,
// page size (two words), offset, used, total (softmmu/physmem.c, ram_block_format, 7.2).
std::optional<RamBlock> find_machine_ram(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view name = take_word(line);
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) continue;
    for (int skipped = 0; skipped < 3; ++skipped) (void)take_word(line);
    const auto used = hex_number(take_word(line));
    if (used && *used > 0 && *used <= kMostRam) return RamBlock{std::string(name), *used};
  }
  return std::nullopt;
}

std::vector<RamLayout> ram_layouts(const RamBlock& block) {
  // hw/arm/virt.c, base_memmap: VIRT_MEM. hw/riscv/virt.c, virt_memmap: VIRT_DRAM.
  if (block.name == "mach-virt.ram") return {{{}, {{GuestPhys{kGiB}, block.bytes, 0}}}};
  if (block.name == "riscv_virt_board.ram") return {{{}, {{GuestPhys{2 * kGiB}, block.bytes, 0}}}};
  if (block.name != "pc.ram") return {};
  // hw/i386/pc_piix.c, pc_init1 (host bridge 8086:1237): up to 3.5 GiB in one piece, more is split
  // at 3 GiB. hw/i386/pc_q35.c, pc_q35_init (8086:29c0): up to 2.75 GiB, more is split at 2 GiB.
  const std::uint64_t i440fx = block.bytes >= 0xe0000000 ? 3 * kGiB : block.bytes;
  const std::uint64_t q35 = block.bytes >= 0xb0000000 ? 2 * kGiB : block.bytes;
  if (i440fx == q35) return {pc_layout(block.bytes, i440fx, {})};
  return {pc_layout(block.bytes, i440fx, "8086:1237"), pc_layout(block.bytes, q35, "8086:29c0")};
}

}  // namespace ringside::memory
