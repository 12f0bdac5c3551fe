#include "plugin/stand_alone/stack_recipe.h"

#include <gtest/gtest.h>

#include "arch/arch_info.h"

namespace ringside::plugin {
namespace {

constexpr std::uint64_t kStackPointer = 0x1000;

arch::Registers registers_with(std::initializer_list<std::uint8_t> numbers) {
  arch::Registers registers;
  for (const std::uint8_t number : numbers) registers.set(number, kStackPointer);
  return registers;
}

// Where the recipe reads first; 0 where it reads nothing.
std::uint64_t first_read(Arch arch, const arch::Registers& registers) {
  const auto recipe = stack_recipe(arch);
  const wire::RecipeBudget budget;
  wire::RecipeRun run(recipe, registers, budget);
  const auto request = run.next();
  return request ? request->read_at.value : 0;
}

TEST(StackRecipe, CopiesFromTheStackPointerOfEachArchitecture) {
  for (const Arch arch : {Arch::kI386, Arch::kAArch64, Arch::kRiscv64}) {
    EXPECT_EQ(first_read(arch, registers_with({arch::roles_of(arch).sp})), kStackPointer);
    EXPECT_EQ(first_read(arch, {}), 0u);
  }
}

TEST(StackRecipe, AMachineOf64BitsMayRunASystemOf32) {
  const auto wide = registers_with({arch::x86_64::kRip, arch::x86_64::kRsp});
  EXPECT_EQ(first_read(Arch::kX86_64, wide), kStackPointer);
  EXPECT_EQ(first_read(Arch::kX86_64, registers_with({arch::i386::kEsp})), kStackPointer);
  EXPECT_EQ(first_read(Arch::kX86_64, registers_with({arch::x86_64::kRip})), 0u);
}

}  // namespace
}  // namespace ringside::plugin
