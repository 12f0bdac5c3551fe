#include <gtest/gtest.h>

#include "guestos/adapter.h"
#include "guestos/stack_recipe.h"

namespace ringside::guestos {
namespace {

std::vector<wire::MemoryRequest> run(const std::vector<wire::RecipeOp>& recipe, std::uint64_t rsp,
                                     std::uint64_t cs, std::uint64_t left_stack) {
  wire::Registers registers;
  registers.set(wire::x86_64::kRsp, rsp);
  registers.set(wire::x86_64::kCs, cs);
  wire::RecipeRun recipe_run(recipe, registers, {});
  std::vector<wire::MemoryRequest> copies;
  while (auto request = recipe_run.next()) {
    if (request->is_load)
      recipe_run.loaded(left_stack);
    else
      copies.push_back(*request);
  }
  return copies;
}

TEST(StackRecipe, CopiesNothingOfUserCode) {
  EXPECT_TRUE(run(stack_recipe({}, 4096), 0x7000, 0x33, 0).empty());
  EXPECT_EQ(run(stack_recipe({}, 4096), 0x7000, 0x08, 0).size(), 1u);
}

TEST(StackRecipe, FollowsEachTopFromItsOwnStackOnly) {
  const std::vector<StackTop> tops = {{GuestVirt{0x10ff8}, true}, {GuestVirt{0x20ff8}, false}};
  const auto recipe = stack_recipe(tops, 0x1000);
  EXPECT_EQ(run(recipe, 0x5000, 8, 0x5550).size(), 1u);
  const auto first = run(recipe, 0x10800, 8, 0x5550);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first[1].why, wire::PieceKind::kStackLink);
  EXPECT_EQ(first[1].address, GuestVirt{0x10ff8});
  EXPECT_EQ(first[2].address, GuestVirt{0x5550});
  const auto second = run(recipe, 0x20800, 8, 0x5550);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[1].why, wire::PieceKind::kInterruptedStack);
}

TEST(Adapter, WithoutAKernelFileTheGuestIsGeneric) {
  const auto adapter = make_adapter(GuestOs::kAuto, nullptr);
  ASSERT_TRUE(adapter);
  EXPECT_EQ((*adapter)->name(), "generic");
  EXPECT_FALSE(make_adapter(GuestOs::kLinux, nullptr));
}

}  // namespace
}  // namespace ringside::guestos
