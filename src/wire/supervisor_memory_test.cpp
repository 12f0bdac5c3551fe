// Recipes of a vCPU in machine mode that see what firmware has interrupted: page tables and trap
// frames made by hand, from The RISC-V Instruction Set Manual, volume II, and from OpenSBI's
// include/sbi/sbi_trap.h.

#include "wire/supervisor_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "wire/recipe.h"

namespace ringside::wire {
namespace {

using enum RecipeOpcode;
using namespace arch::riscv64;

constexpr std::uint64_t kTable = 0x01;
constexpr std::uint64_t kData = 0xc7;                        // V R W A D
constexpr std::uint64_t kSv39 = std::uint64_t{8} << 60 | 1;  // the root is at 0x1000
constexpr std::uint64_t kStack = 0xffffffc600008000;
constexpr std::uint64_t kFrame = 0x80041000;

// The frame number begins at bit 10.
constexpr std::uint64_t to(std::uint64_t physical) { return physical >> 2; }

struct Outcome {
  std::vector<MemoryRequest> copies;
  std::vector<std::uint64_t> loaded_from;  // physical addresses
};

// Words by their physical address.
using Memory = std::map<std::uint64_t, std::uint64_t>;

Outcome run(const std::vector<RecipeOp>& recipe, const Memory& memory) {
  arch::Registers registers;
  registers.set(kSp, 0xbad);
  registers.set(kPriv, 3);
  Outcome outcome;
  RecipeRun recipe_run(recipe, registers, {});
  while (auto request = recipe_run.next()) {
    if (!request->is_load()) {
      outcome.copies.push_back(*request);
      continue;
    }
    outcome.loaded_from.push_back(request->read_at.value);
    const auto word = memory.find(request->read_at.value);
    recipe_run.loaded(word == memory.end() ? std::nullopt : std::optional(word->second));
  }
  return outcome;
}

// The stack's two pages lie apart. kStack: entries 0x118, 0 and 8.
Memory memory_of_two_pages() {
  return {{0x1000 + 0x118 * 8, to(0x2000) | kTable},
          {0x2000, to(0x3000) | kTable},
          {0x3000 + 8 * 8, to(0x9000'0000) | kData},
          {0x3000 + 9 * 8, to(0x9123'4000) | kData},
          {0x1000 + 0x1ff * 8, to(0x8'4000'0000) | kData},  // 1 GiB
          {kFrame + 2 * 8, kStack + 0xf00},
          {kFrame + 4 * 8, kStack + 0x1010}};
}

// sp of firmware's frame, by slots: 0 frame, 1 satp, 2 mode.
std::vector<RecipeOp> entering(std::uint64_t satp, std::vector<RecipeOp> then) {
  std::vector<RecipeOp> recipe = {{kSet, 0, 0, 0, 0, 0, kFrame},
                                  {kSet, 1, 0, 0, 0, 0, satp},
                                  {kSet, 2, 0, 0, 0, 0, 1},
                                  {kEnter, 2, 0, 1, 0, 0, 0},
                                  {kEnd, 0, 0, 0, 0, 0, 0}};
  recipe.insert(recipe.end(), then.begin(), then.end());
  return recipe;
}

constexpr auto kCurrent = static_cast<std::uint8_t>(PieceKind::kCurrentStack);
constexpr auto kSystem = static_cast<std::uint8_t>(PieceKind::kSystem);

TEST(SupervisorMemory, AStackIsCopiedPageByPage) {
  const Outcome done =
      run(entering(kSv39, {{kRegister, 0, kSp, 0, 99, 0, 0}, {kCopy, 0, 0, kCurrent, 0, 7, 0x300}}),
          memory_of_two_pages());
  ASSERT_EQ(done.copies.size(), 2u);
  EXPECT_EQ(done.copies[0].address.value, kStack + 0xf00);
  EXPECT_EQ(done.copies[0].read_at.value, 0x9000'0f00u);
  EXPECT_EQ(done.copies[0].size, 0x100u);
  EXPECT_EQ(done.copies[1].address.value, kStack + 0x1000);
  EXPECT_EQ(done.copies[1].read_at.value, 0x9123'4000u);
  EXPECT_EQ(done.copies[1].size, 0x200u);
  EXPECT_EQ(done.copies[1].tag, 7u);
  // From each part's address on.
  EXPECT_EQ(done.copies[0].requested, 0x300u);
  EXPECT_EQ(done.copies[1].requested, 0x200u);
}

TEST(SupervisorMemory, WhatIsNotMappedIsLeftOut) {
  const Outcome done = run(entering(kSv39, {{kRegister, 0, kSp, 0, 99, 0, 0},
                                            {kCopy, 0, 0, kCurrent, 0, 0, 0x1200},  // a page more
                                            {kSet, 1, 0, 0, 0, 0, kStack + 0x2000},
                                            {kLoad, 2, 1, 8, 1, 0, 0},  // skips the next one
                                            {kCopy, 0, 0, kSystem, 0, 1, 8},
                                            {kSet, 1, 0, 0, 0, 0, std::uint64_t{1} << 40},
                                            {kLoad, 2, 1, 8, 1, 0, 0},  // no address of Sv39
                                            {kCopy, 0, 0, kSystem, 0, 2, 8},
                                            {kCopy, 0, 0, kSystem, 0, 3, 8}}),
                           memory_of_two_pages());
  ASSERT_EQ(done.copies.size(), 3u);
  EXPECT_EQ(done.copies[0].size + done.copies[1].size, 0x1100u);
  EXPECT_EQ(done.copies[1].requested, 0x1100u);  // its end is memory's
  EXPECT_EQ(done.copies[2].tag, 3u);
}

TEST(SupervisorMemory, RegistersAreThoseOfTheFrame) {
  // tp, then a word behind it; the mode; satp; sepc, which no frame has.
  auto memory = memory_of_two_pages();
  memory[0x9123'4018] = 0x1234;
  const Outcome done = run(entering(kSv39, {{kRegister, 0, kTp, 0, 99, 0, 0},
                                            {kLoad, 1, 0, 8, 99, 0, 8},
                                            {kEmit, 0, 1, 0, 0, 1, 0},
                                            {kRegister, 1, kPriv, 0, 99, 0, 0},
                                            {kEmit, 0, 1, 0, 0, 2, 0},
                                            {kRegister, 1, kSatp, 0, 99, 0, 0},
                                            {kEmit, 0, 1, 0, 0, 3, 0},
                                            {kRegister, 1, kSepc, 0, 1, 0, 0},
                                            {kEmit, 0, 1, 0, 0, 4, 0}}),
                           memory);
  ASSERT_EQ(done.copies.size(), 3u);
  EXPECT_EQ(done.copies[0].value, 0x1234u);
  EXPECT_EQ(done.copies[1].value, 1u);
  EXPECT_EQ(done.copies[2].value, kSv39);
}

TEST(SupervisorMemory, APageIsWalkedOnce) {
  const Outcome done = run(entering(kSv39, {{kSet, 0, 0, 0, 0, 0, 0xffff'ffff'c012'3450},
                                            {kLoad, 1, 0, 8, 99, 0, 0},
                                            {kLoad, 1, 0, 8, 99, 0, 0x1000}}),
                           [] {
                             auto memory = memory_of_two_pages();
                             memory[0x8'4012'3450] = memory[0x8'4012'4450] = 1;
                             return memory;
                           }());
  EXPECT_EQ(done.loaded_from,
            (std::vector<std::uint64_t>{0x1000 + 0x1ff * 8, 0x8'4012'3450, 0x8'4012'4450}));
}

// The entries of a table are next to each other.
TEST(SupervisorMemory, TheNextPageNeedsOneEntry) {
  const Outcome done = run(entering(kSv39, {{kSet, 0, 0, 0, 0, 0, kStack},
                                            {kLoad, 1, 0, 8, 99, 0, 0},
                                            {kLoad, 1, 0, 8, 99, 0, 0x1000}}),
                           [] {
                             auto memory = memory_of_two_pages();
                             memory[0x9000'0000] = memory[0x9123'4000] = 1;
                             return memory;
                           }());
  EXPECT_EQ(done.loaded_from,
            (std::vector<std::uint64_t>{0x1000 + 0x118 * 8, 0x2000, 0x3000 + 8 * 8, 0x9000'0000,
                                        0x3000 + 9 * 8, 0x9123'4000}));
}

TEST(SupervisorMemory, ALoadOverAPagesEndIsNone) {
  const Outcome done = run(entering(kSv39, {{kSet, 0, 0, 0, 0, 0, kStack + 0xffc},
                                            {kLoad, 1, 0, 8, 1, 0, 0},
                                            {kCopy, 0, 0, kSystem, 0, 1, 8},
                                            {kCopy, 0, 0, kSystem, 0, 2, 4}}),
                           memory_of_two_pages());
  ASSERT_EQ(done.copies.size(), 1u);
  EXPECT_EQ(done.copies[0].tag, 2u);
}

// A guest may have tables that lead everywhere.
TEST(SupervisorMemory, EntriesHaveABudget) {
  std::vector<RecipeOp> scattered;
  Memory memory;
  memory[0x1000 + 0x118 * 8] = to(0x2000) | kTable;
  for (std::uint64_t i = 0; i < 512; ++i) {
    memory[0x2000 + i * 8] = to(0x10000 + i * 0x1000) | kTable;
    memory[0x10000 + i * 0x1000] = to(0x9000'0000) | kData;
  }
  for (std::uint64_t i = 0; i < 60; ++i) {
    scattered.push_back({kSet, 0, 0, 0, 0, 0, 0xffffffc600000000 + (i << 21)});
    scattered.push_back({kCopy, 0, 0, kSystem, 0, 0, 8});
  }
  const Outcome done = run(entering(kSv39, scattered), memory);
  EXPECT_EQ(done.loaded_from.size(), kMostTableLoads);
  EXPECT_EQ(done.copies.size(), kMostTableLoads / 3);
}

TEST(SupervisorMemory, WithoutPagingAddressesAreTheirOwn) {
  const Outcome done = run(
      entering(0, {{kSet, 0, 0, 0, 0, 0, 0x8020'0ff0}, {kCopy, 0, 0, kSystem, 0, 0, 0x20}}), {});
  ASSERT_EQ(done.copies.size(), 2u);
  EXPECT_EQ(done.copies[0].read_at.value, 0x8020'0ff0u);
  EXPECT_EQ(done.copies[1].read_at.value, 0x8020'1000u);
  EXPECT_TRUE(done.loaded_from.empty());
}

// Mode 1 is reserved, 11 is Sv64, which has no definition.
TEST(SupervisorMemory, OtherModesHaveNoMemory) {
  for (const std::uint64_t mode : {1, 7, 11, 15}) {
    const Outcome done = run(
        entering(mode << 60 | 1, {{kSet, 0, 0, 0, 0, 0, kStack}, {kCopy, 0, 0, kSystem, 0, 0, 8}}),
        memory_of_two_pages());
    EXPECT_TRUE(done.copies.empty()) << mode;
  }
}

}  // namespace
}  // namespace ringside::wire
