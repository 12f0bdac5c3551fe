#include "memory/guest_ram.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "memory/process_memory.h"

namespace ringside::memory {
namespace {

constexpr std::uint64_t kGiB = 1u << 30;

// Printed by QEMU 7.2: qemu-system-x86_64 -m 512.
constexpr std::string_view kRamBlocks =
    "              Block Name    PSize              Offset               Used              Total\n"
    "                  pc.ram    4 KiB  0x0000000000000000 0x0000000020000000 0x0000000020000000\n"
    "   0000:00:02.0/vga.vram    4 KiB  0x0000000020080000 0x0000000001000000 0x0000000001000000\n";

TEST(GuestRam, TheMachinesBlock) {
  const auto block = find_machine_ram(kRamBlocks);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->name, "pc.ram");
  EXPECT_EQ(block->bytes, 0x20000000u);
  EXPECT_FALSE(find_machine_ram(kRamBlocks.substr(0, 100)));
  EXPECT_FALSE(find_machine_ram("pc.ram 4 KiB 0x0 1000 0x0"));
  EXPECT_FALSE(find_machine_ram("pc.ram"));
  EXPECT_FALSE(find_machine_ram(""));
}

struct Expected {
  std::uint64_t start, end, offset;
};

void expect_ranges(const RamLayout& layout, const std::vector<Expected>& expected) {
  ASSERT_EQ(layout.ranges.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(layout.ranges[i].start.value, expected[i].start);
    EXPECT_EQ(layout.ranges[i].start.value + layout.ranges[i].bytes, expected[i].end);
    EXPECT_EQ(layout.ranges[i].offset, expected[i].offset);
  }
}

// Expected values: `info mtree -f` of QEMU 7.2 (lines "(prio 0, ram): pc.ram @…").
TEST(GuestRam, Layouts) {
  const auto small = ram_layouts({"pc.ram", 0x20000000});
  ASSERT_EQ(small.size(), 1u);
  expect_ranges(small[0], {{0, 0xa0000, 0}, {0x100000, 0x20000000, 0x100000}});
  const auto large = ram_layouts({"pc.ram", 5 * kGiB});
  ASSERT_EQ(large.size(), 2u);
  EXPECT_EQ(large[1].host_bridge, "8086:29c0");  // -M q35 -m 5G
  expect_ranges(
      large[1],
      {{0, 0xa0000, 0}, {0x100000, 0x80000000, 0x100000}, {0x100000000, 0x1c0000000, 0x80000000}});
  EXPECT_EQ(large[0].host_bridge, "8086:1237");  // -M pc -m 5G
  expect_ranges(
      large[0],
      {{0, 0xa0000, 0}, {0x100000, 0xc0000000, 0x100000}, {0x100000000, 0x180000000, 0xc0000000}});
  expect_ranges(ram_layouts({"mach-virt.ram", 0x20000000})[0], {{0x40000000, 0x60000000, 0}});
  expect_ranges(ram_layouts({"riscv_virt_board.ram", 0x8000000})[0], {{0x80000000, 0x88000000, 0}});
  EXPECT_TRUE(ram_layouts({"raspi.ram", kGiB}).empty());
}

TEST(GuestRam, FindRamStopsAtTheRangesEnd) {
  const auto layout = ram_layouts({"pc.ram", 0x20000000})[0];
  EXPECT_EQ(find_ram(layout.ranges, GuestPhys{0x9fff0}, 64)->bytes, 16u);
  EXPECT_FALSE(find_ram(layout.ranges, GuestPhys{0xa0000}, 64));
  EXPECT_FALSE(find_ram(layout.ranges, GuestPhys{0x20000000}, 64));
  EXPECT_FALSE(find_ram(layout.ranges, GuestPhys{~std::uint64_t{0}}, 64));
  EXPECT_EQ(find_ram(layout.ranges, GuestPhys{0x100010}, 64)->offset, 0x100010u);
}

TEST(ProcessMemory, CandidatesByFit) {
  const auto starts = block_candidates(
      "7f0000000000-7f0040000000 rw-s 00000000 00:01 12 /memfd:x (deleted)\n"
      "7e0000000000-7e0020000000 rw-p 00000000 00:00 0 \n"
      "7d0000000000-7d0020000000 ---p 00000000 00:00 0 \n"
      "7c0000000000-7c001ffff000 rw-p 00000000 00:00 0\nnonsense\n-\n7-6 rw-p\n",
      0x20000000);
  EXPECT_EQ(starts, (std::vector<std::uint64_t>{0x7e0000000000, 0x7f0000000000}));
}

// A child stands for QEMU: its "RAM" is 2 MiB, of which the part behind 1 MiB holds numbers.
TEST(ProcessMemory, ReadsAnotherProcess) {
  constexpr std::size_t kBytes = 2u << 20;
  void* const block =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  const pid_t child = ::fork();
  if (child == 0) {
    auto* const words = static_cast<std::uint64_t*>(block);
    for (std::size_t i = 0; i < kBytes / 8; ++i) words[i] = 8 * i;
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, WUNTRACED);
  std::ifstream file("/proc/" + std::to_string(child) + "/maps");
  const std::string maps(std::istreambuf_iterator<char>(file), {});
  const auto candidates = block_candidates(maps, kBytes);
  const auto address = reinterpret_cast<std::uint64_t>(block);
  EXPECT_NE(std::find(candidates.begin(), candidates.end(), address), candidates.end());
  ProcessMemory memory(child, address, ram_layouts({"pc.ram", kBytes})[0].ranges);
  EXPECT_EQ(*memory.read_value<std::uint64_t>(GuestPhys{0x123458}), 0x123458u);
  std::vector<std::byte> bytes(64);
  EXPECT_EQ(*memory.read_up_to(GuestPhys{kBytes - 16}, bytes), 16u);
  EXPECT_EQ(*memory.read_up_to(GuestPhys{0xa0000}, bytes), 0u);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(memory.read_up_to(GuestPhys{0}, bytes).error().code, ErrorCode::kClosed);
  ::munmap(block, kBytes);
}

}  // namespace
}  // namespace ringside::memory
