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

Outcome run(const std::vector<RecipeOp>& recipe, const arch::Registers& registers,
            const std::map<std::uint64_t, std::uint64_t>& memory = {}, RecipeBudget budget = {}) {
  Outcome outcome;
  RecipeRun recipe_run(recipe, registers, budget);
  while (auto request = recipe_run.next()) {
    if (!request->is_load()) {
      outcome.copies.push_back(*request);
      continue;
    }
    ++outcome.loads;
    const auto word = memory.find(request->address.value);
    recipe_run.loaded(word == memory.end() ? std::nullopt : std::optional(word->second));
  }
  return outcome;
}

arch::Registers with_rsp(std::uint64_t rsp) {
  arch::Registers registers;
  registers.set(arch::x86_64::kRsp, rsp);
  return registers;
}

// Copies the current stack, and the stack that was left when rsp lies in the 16 KiB below slot
// 0x8000.
const std::vector<RecipeOp> kStackAndLink = {
    {kRegister, 0, arch::x86_64::kRsp, 0, 99, 0, 0},
    {kCopyStack, 0, 0, static_cast<std::uint8_t>(PieceKind::kCurrentStack), 0, 0, 0},
    {kSet, 1, 0, 0, 0, 0, 0x8000},
    {kSubtract, 2, 1, 0, 0, 0, 0},
    {kSkipIfNotLess, 0, 2, 0, 2, 0, 0x4000},
    {kLoad, 3, 1, 8, 1, 0, 0},
    {kCopyStack, 0, 3, static_cast<std::uint8_t>(PieceKind::kInterruptedStack), 0, 0, 0},
};

TEST(Recipe, CopiesAStackUpToItsEnd) {
  const auto bytes_from = [](std::uint64_t sp) {
    const std::vector<RecipeOp> recipe = {
        {kRegister, 0, arch::x86_64::kRsp, 0, 99, 0, 0},
        {kCopyStack, 0, 0, static_cast<std::uint8_t>(PieceKind::kCurrentStack), 0, 0, 0x4000}};
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

TEST(Recipe, ALoadHasOneToEightBytes) {
  for (const auto& [b, size] : {std::pair{1, 1u}, {2, 2u}, {4, 4u}, {8, 8u}}) {
    const std::vector<RecipeOp> recipe{{kLoad, 1, 0, static_cast<std::uint8_t>(b), 0, 0, 0x8000}};
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

// The value of slot 2, determined by where a copy begins.
std::uint64_t computed(std::vector<RecipeOp> recipe) {
  recipe.push_back({kCopy, 0, 2, 0, 0, 0, 1});
  return run(recipe, {}).copies.at(0).address.value;
}

TEST(Recipe, ShiftsAndAdds) {
  const RecipeOp first{kSet, 0, 0, 0, 0, 0, 0xf000'0000'0000'0123};
  const RecipeOp second{kSet, 1, 0, 0, 0, 0, 0x1000'0000'0000'0001};
  EXPECT_EQ(computed({first, {kShiftRight, 2, 0, 0, 0, 0, 4}}), 0x0f00'0000'0000'0012u);
  EXPECT_EQ(computed({first, {kShiftRight, 2, 0, 0, 0, 0, 63}}), 1u);
  EXPECT_EQ(computed({first, {kShiftRight, 2, 0, 0, 0, 0, 64}}), 0u);
  EXPECT_EQ(computed({first, {kShiftLeft, 2, 0, 0, 0, 0, 4}}), 0x1230u);
  EXPECT_EQ(computed({first, {kShiftLeft, 2, 0, 0, 0, 0, ~std::uint64_t{0}}}), 0u);
  EXPECT_EQ(computed({first, second, {kAddSlots, 2, 0, 1, 0, 0, 0}}), 0x124u);
}

constexpr auto kUser = static_cast<std::uint8_t>(PieceKind::kUserStack);

// Two pages of 0x1000 bytes, whose bytes are elsewhere too; then four bytes of no part.
std::vector<RecipeOp> two_parts(std::uint64_t sp) {
  return {{kSet, 0, 0, 0, 0, 0, sp},
          {kSet, 1, 0, 0, 0, 0, 0x70000},
          {kCopyStackAt, 1, 0, kUser, 2, 0, 0x1000},
          {kSet, 0, 0, 0, 0, 0, 0x6000},
          {kCopyStackAt, 1, 0, kUser, 0, 0, 0x1000},
          {kCopy, 0, 0, 0, 0, 0, 4}};
}

TEST(Recipe, CopiesAStackByPartsThatAreElsewhere) {
  const auto done = run(two_parts(0x5e00), {});
  ASSERT_EQ(done.copies.size(), 3u);
  EXPECT_EQ(done.copies[0].address.value, 0x5e00u);
  EXPECT_EQ(done.copies[0].read_at.value, 0x70000u);
  EXPECT_EQ(done.copies[0].size, 0x200u);
  EXPECT_EQ(done.copies[0].why, PieceKind::kUserStack);
  EXPECT_FALSE(done.copies[0].is_load());
  EXPECT_EQ(done.copies[1].address.value, 0x6000u);
  EXPECT_EQ(done.copies[1].size, 2048u - 0x200u);
  EXPECT_EQ(done.copies[2].read_at, done.copies[2].address);
}

TEST(Recipe, SkipsWhereTheBudgetOfPartsIsUsedUp) {
  const auto done = run(two_parts(0x5800), {});
  ASSERT_EQ(done.copies.size(), 2u);
  EXPECT_EQ(done.copies[0].size, 0x800u);
  EXPECT_EQ(done.copies[1].size, 4u);
  RecipeBudget budget;
  budget.bytes = 0x80;
  const auto less = run(two_parts(0x5e00), {}, {}, budget);
  ASSERT_EQ(less.copies.size(), 1u);
  EXPECT_EQ(less.copies[0].size, 0x80u);
}

TEST(Recipe, APartFromTheStartOfAPageIsAWholeOne) {
  RecipeBudget budget;
  budget.stack_bytes[kUser] = 0x1800;
  const auto done = run(two_parts(0x5000), {}, {}, budget);
  ASSERT_EQ(done.copies.size(), 3u);
  EXPECT_EQ(done.copies[0].size, 0x1000u);
  EXPECT_EQ(done.copies[1].size, 0x800u);
}

TEST(Recipe, EndsAtAnythingOutOfRange) {
  const RecipeOp copy{kCopy, 0, 0, 0, 0, 0, 16};
  EXPECT_EQ(run({copy}, {}).copies.size(), 1u);
  for (const RecipeOp& bad :
       {RecipeOp{kSet, 32, 0, 0, 0, 0, 0}, RecipeOp{kRegister, 0, 64, 0, 0, 0, 0},
        RecipeOp{kLoad, 0, 0, 3, 0, 0, 0}, RecipeOp{kLoad, 0, 0, 0, 0, 0, 0},
        RecipeOp{kSubtract, 0, 0, 32, 0, 0, 0}, RecipeOp{kAddSlots, 0, 0, 32, 0, 0, 0},
        RecipeOp{kCopy, 0, 0, kPieceKindCount, 0, 0, 1},
        RecipeOp{kCopyStackAt, 0, 0, kPieceKindCount, 0, 0, 1},
        RecipeOp{kCopyStackAt, 32, 0, 0, 0, 0, 1},
        RecipeOp{static_cast<RecipeOpcode>(99), 0, 0, 0, 0, 0, 0}})
    EXPECT_TRUE(run({bad, copy}, {}).copies.empty());
  EXPECT_TRUE(run({{kSkipIfEqual, 0, 0, 0, 0xffff, 0, 0}, copy}, {}).copies.empty());
}

}  // namespace
}  // namespace ringside::wire
