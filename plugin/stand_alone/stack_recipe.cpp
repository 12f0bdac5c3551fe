#include "plugin/stand_alone/stack_recipe.h"

#include "arch/arch_info.h"
#include "wire/recipe_builder.h"

namespace ringside::plugin {

std::vector<wire::RecipeOp> stack_recipe(Arch arch) {
  wire::RecipeBuilder recipe;
  const auto sp = recipe.slot();
  const auto end = recipe.recipe_end();
  const auto copy = recipe.label();
  if (arch == Arch::kX86_64) {
    const auto is_32_bit = recipe.label();
    recipe.read_register(sp, arch::x86_64::kRip, is_32_bit);
    recipe.read_register(sp, arch::x86_64::kRsp, end);
    recipe.go(copy);
    recipe.bind(is_32_bit);
    recipe.read_register(sp, arch::i386::kEsp, end);
  } else {
    recipe.read_register(sp, arch::roles_of(arch).sp, end);
  }
  recipe.bind(copy);
  recipe.copy_stack(sp, wire::PieceKind::kCurrentStack);
  return recipe.take();
}

}  // namespace ringside::plugin
