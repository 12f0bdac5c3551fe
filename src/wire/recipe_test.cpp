#include "wire/recipe.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace ringside::wire {
namespace {

using enum RecipeOpcode;

struct Outcome {
  std::vector<MemoryRequest> copies;
  int loads = 0;
};

Outcome run(const std::vector<RecipeOp>& recipe, const Registers& registers,
            const std::map<std::uint64_t, std::uint64_t>& memory = {}, RecipeBudget budget = {}) {
  Outcome outcome;
  RecipeRun recipe_run(recipe, registers, budget);
  while (auto request = recipe_run.next()) {
    if (!request->is_load) {
      outcome.copies.push_back(*request);
      continue;
    }
    ++outcome.loads;
    const auto word = memory.find(request->address.value);
    recipe_run.loaded(word == memory.end() ? std::nullopt : std::optional(word->second));
  }
  return outcome;
}

Registers with_rsp(std::uint64_t rsp) {
  Registers registers;
  registers.set(x86_64::kRsp, rsp);
  return registers;
}

// Copies the current stack, and the stack that was left when rsp lies in the 16 KiB below slot
// 0x8000.
const std::vector<RecipeOp> kStackAndLink = {
    {kRegister, 0, x86_64::kRsp, 0, 99, 0},
    {kCopyStack, 0, 0, static_cast<std::uint8_t>(PieceKind::kCurrentStack), 0, 0},
    {kSet, 1, 0, 0, 0, 0x8000},
    {kSubtract, 2, 1, 0, 0, 0},
    {kSkipIfNotLess, 0, 2, 0, 2, 0x4000},
    {kLoad, 3, 1, 0, 1, 0},
    {kCopyStack, 0, 3, static_cast<std::uint8_t>(PieceKind::kInterruptedStack), 0, 0},
};

TEST(Recipe, CopiesAStackUpToItsEnd) {
  const auto bytes_from = [](std::uint64_t sp) {
    const std::vector<RecipeOp> recipe = {
        {kRegister, 0, x86_64::kRsp, 0, 99, 0},
        {kCopyStack, 0, 0, static_cast<std::uint8_t>(PieceKind::kCurrentStack), 0, 0x4000}};
    const auto done = run(recipe, with_rsp(sp), {});
    return done.copies.empty() ? 0 : done.copies[0].size;
  };
  EXPECT_EQ(bytes_from(0x7000), 2048u);
  EXPECT_EQ(bytes_from(0x7f00), 0x100u);
  EXPECT_EQ(bytes_from(0x8000), 0u);
}

TEST(Recipe, FollowsALinkOnlyFromItsOwnStack) {
  const auto inside = run(kStackAndLink, with_rsp(0x7f00), {{0x8000, 0x123450}});
  ASSERT_EQ(inside.copies.size(), 2u);
  EXPECT_EQ(inside.copies[1].address, GuestVirt{0x123450});
  EXPECT_EQ(inside.copies[1].why, PieceKind::kInterruptedStack);
  EXPECT_EQ(inside.copies[1].size, 2048u);
  const auto outside = run(kStackAndLink, with_rsp(0x3f00), {{0x8000, 0x123450}});
  EXPECT_EQ(outside.copies.size(), 1u);
  EXPECT_EQ(outside.loads, 0);
}

TEST(Recipe, ALoadHasFourOrEightBytes) {
  for (const auto& [b, size] : {std::pair{0, 8u}, std::pair{4, 4u}, std::pair{8, 8u}}) {
    const std::vector<RecipeOp> recipe{{kLoad, 1, 0, static_cast<std::uint8_t>(b), 0, 0x8000}};
    RecipeRun recipe_run(recipe, {}, {});
    const auto request = recipe_run.next();
    ASSERT_TRUE(request);
    EXPECT_EQ(request->size, size);
  }
}

TEST(Recipe, AnUnmappedLoadSkips) {
  EXPECT_EQ(run(kStackAndLink, with_rsp(0x7f00)).copies.size(), 1u);
}

TEST(Recipe, AMissingRegisterSkips) { EXPECT_TRUE(run(kStackAndLink, {}).copies.empty()); }

TEST(Recipe, StaysInsideItsBudget) {
  RecipeBudget budget;
  budget.bytes = 3000;
  const auto outcome = run(kStackAndLink, with_rsp(0x7f00), {{0x8000, 0x1000}}, budget);
  ASSERT_EQ(outcome.copies.size(), 2u);
  EXPECT_EQ(outcome.copies[1].size, 3000u - 2048u);
  budget.loads = 0;
  EXPECT_EQ(run(kStackAndLink, with_rsp(0x7f00), {{0x8000, 0x1000}}, budget).copies.size(), 1u);
}

TEST(Recipe, EndsAtAnythingOutOfRange) {
  const RecipeOp copy{kCopy, 0, 0, 0, 0, 16};
  EXPECT_EQ(run({copy}, {}).copies.size(), 1u);
  for (const RecipeOp& bad : {RecipeOp{kSet, 8, 0, 0, 0, 0}, RecipeOp{kRegister, 0, 64, 0, 0, 0},
                              RecipeOp{kLoad, 0, 0, 3, 0, 0}, RecipeOp{kSubtract, 0, 0, 8, 0, 0},
                              RecipeOp{kCopy, 0, 0, kPieceKindCount, 0, 1},
                              RecipeOp{static_cast<RecipeOpcode>(99), 0, 0, 0, 0, 0}})
    EXPECT_TRUE(run({bad, copy}, {}).copies.empty());
  EXPECT_TRUE(run({{kSkipIfEqual, 0, 0, 0, 0xffffffff, 0}, copy}, {}).copies.empty());
}

}  // namespace
}  // namespace ringside::wire
