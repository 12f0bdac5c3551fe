#include "memory/guest_ram.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace ringside::memory {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kGiB = 1u << 30;

// QEMU's output: testdata/ram/VERSION-MACHINE.mtree and .ramblock, made as its README says.
std::string printed(const std::string& name) {
  std::ifstream file(RINGSIDE_TESTDATA "/ram/" + name);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<RamMap> map_of(const std::string& machine) {
  return parse_ram_map(printed(machine + ".mtree"), printed(machine + ".ramblock"));
}

struct Expected {
  std::uint64_t start, bytes;
  std::string block;
  std::uint64_t offset;
};

void expect_ranges(const std::string& machine, const std::vector<Expected>& expected) {
  const auto map = map_of(machine);
  ASSERT_TRUE(map) << machine << map.error().message;
  ASSERT_EQ(map->ranges.size(), expected.size()) << machine;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const RamRange& range = map->ranges[i];
    EXPECT_EQ(range.start.value, expected[i].start) << machine;
    EXPECT_EQ(range.bytes, expected[i].bytes) << machine;
    EXPECT_EQ(map->blocks.at(range.block).name, expected[i].block) << machine;
    EXPECT_EQ(range.offset, expected[i].offset) << machine;
  }
}

// RAM below 4 GiB of a PC, by what the BIOS has done so far: copied itself to RAM, or not.
std::vector<Expected> low(const std::string& block, std::uint64_t bytes, bool copied) {
  if (copied) return {{0, 0xa0000, block, 0}, {0xc0000, bytes - 0xc0000, block, 0xc0000}};
  return {{0, 0xa0000, block, 0},
          {0xc0000, 0x20000, "pc.rom", 0},
          {0xe0000, 0x20000, "pc.bios", 0x20000},
          {kMiB, bytes - kMiB, block, kMiB}};
}

std::vector<Expected> operator+(std::vector<Expected> left, const std::vector<Expected>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// Expected: hw/i386/pc_piix.c, pc_init1 (more than 3.5 GiB is split at 3 GiB), and pc_q35.c,
// pc_q35_init (2.75 GiB, 2 GiB), 7.2; a DIMM behind the rest; the BIOS of 256 KiB below 4 GiB;
// hw/arm/virt.c, hw/riscv/virt.c.
TEST(GuestRam, MachinesOfTwoVersions) {
  const Expected bios{4 * kGiB - 256 * 1024, 256 * 1024, "pc.bios", 0};
  for (const bool older : {true, false}) {
    const std::string version = older ? "7.2-" : "10.0-";
    expect_ranges(version + "pc", low("pc.ram", 512 * kMiB, older) + std::vector{bios});
    expect_ranges(version + "q35-5g-dimm",
                  low("pc.ram", 2 * kGiB, !older) +
                      std::vector{bios, Expected{4 * kGiB, 3 * kGiB, "pc.ram", 2 * kGiB},
                                  Expected{7 * kGiB, 256 * kMiB, "d0", 0}});
    expect_ranges(version + "q35-numa",
                  low("m0", 256 * kMiB, older) +
                      std::vector{Expected{256 * kMiB, 256 * kMiB, "m1", 0}, bios});
    expect_ranges(version + "arm-virt-backend", {{kGiB, 512 * kMiB, "mem0", 0}});
    expect_ranges(version + "riscv-virt", {{0x1000, 0xf000, "riscv_virt_board.mrom", 0},
                                           {2 * kGiB, 512 * kMiB, "riscv_virt_board.ram", 0}});
  }
}

// From the .ramblock files, by eye.
TEST(GuestRam, NewerQemuSaysWhereItHasABlock) {
  EXPECT_EQ(map_of("7.2-pc")->blocks[0].host_address, 0u);
  const auto map = map_of("10.0-pc");
  EXPECT_NE(map->blocks[0].host_address, 0u);
  EXPECT_NE(printed("10.0-pc.ramblock").find(fmt::format("{:#018x}", map->blocks[0].host_address)),
            std::string::npos);
}

constexpr std::string_view kBlocks =
    "  pc.ram    4 KiB  0x0000000000000000 0x0000000020000000 0x0000000020000000\r\n";

std::size_t ranges_in(const std::string& view) {
  const auto map = parse_ram_map(view, kBlocks);
  return map ? map->ranges.size() : 0;
}

TEST(GuestRam, OnlyWhatIsUnderstoodIsTaken) {
  const std::string head =
      "FlatView #1\n AS \"memory\", root: system\n Root memory region: system\n";
  EXPECT_EQ(ranges_in(head + "  00100000-001fffff (prio 0, ram): pc.ram @0000000000100000 KVM\r\n"),
            1u);
  EXPECT_EQ(ranges_in(head + "  00100000-001fffff (prio 0, ram): pc.ram KVM\n"), 1u);
  for (const std::string line :
       {"  00100000-001fffff (prio 0, romd): pc.ram", "  00100000-001fffff (prio 0, i/o): pc.ram",
        "  00100000-001fffff (prio 0, ram): pc.ramx", "  00100000-001fffff (prio 0, ram): vga.vram",
        "  00100000-001fffff (prio 0, ram): pc.ram @1fffffff",
        "  001fffff-00100000 (prio 0, ram): pc.ram",
        "  00100000-ffffffffffffffff (prio 0, ram): pc.ram", "  xyz-001fffff (prio 0, ram): pc.ram",
        "  000a0000-000bffff (prio 0, ram): pc.ram", "  00000000-20000000 (prio 0, ram): pc.ram"})
    EXPECT_EQ(ranges_in(head + line + "\n"), 0u) << line;
  EXPECT_EQ(ranges_in("FlatView #0\n AS \"I/O\", root: io\n"
                      "  00100000-001fffff (prio 0, ram): pc.ram\n"),
            0u);
  EXPECT_FALSE(parse_ram_map("", kBlocks));
  EXPECT_FALSE(parse_ram_map(head, ""));
}

TEST(GuestRam, FindRamStopsAtTheRangesEnd) {
  const auto map = map_of("7.2-pc");
  ASSERT_TRUE(map);
  EXPECT_EQ(find_ram(map->ranges, GuestPhys{0x9fff0}, 64)->bytes, 16u);
  EXPECT_FALSE(find_ram(map->ranges, GuestPhys{0xa0000}, 64));
  EXPECT_FALSE(find_ram(map->ranges, GuestPhys{0x20000000}, 64));
  EXPECT_FALSE(find_ram(map->ranges, GuestPhys{~std::uint64_t{0}}, 64));
  EXPECT_EQ(find_ram(map->ranges, GuestPhys{0x100010}, 64)->offset, 0x100010u);
}

}  // namespace
}  // namespace ringside::memory
