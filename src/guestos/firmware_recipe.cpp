#include "guestos/firmware_recipe.h"

#include "arch/riscv64.h"
#include "wire/firmware_frame.h"

namespace ringside::guestos {

// A later trap, or the code that returns, has other registers than the frame. Firmware steps over
// the instruction that has called it in the frame only.
void enter_interrupted_code(wire::RecipeBuilder& recipe, GuestVirt frame) {
  using namespace arch::riscv64;
  namespace saved = wire::firmware_frame;
  const auto end = recipe.recipe_end();
  const auto is_same_pc = recipe.label();
  const auto at = recipe.slot();
  const auto expected = recipe.slot();
  const auto found = recipe.slot();
  const auto mode = recipe.slot();
  const auto satp = recipe.slot();
  recipe.read_register(mode, kPriv, end);
  recipe.mask(mode, mode, 3);
  recipe.go_if_not_equal(mode, saved::kMachine, end);
  recipe.set(at, frame.value);
  recipe.read_register(expected, kSepc, end);
  recipe.load(found, {at, saved::offset_of(kPc)}, saved::kWord, end);
  recipe.go_if_equal(found, expected, is_same_pc);
  recipe.add(expected, expected, 4);
  recipe.go_if_not_equal(found, expected, end);
  recipe.bind(is_same_pc);
  recipe.read_register(expected, kSstatus, end);
  recipe.load(found, {at, saved::kStatus}, saved::kWord, end);
  recipe.mask(mode, found, saved::kIsGuests);
  recipe.go_if_not_equal(mode, 0, end);
  recipe.mask(expected, expected, ~saved::kChanges);
  recipe.mask(found, found, ~saved::kChanges);
  recipe.go_if_not_equal(found, expected, end);
  recipe.shift_right(mode, found, saved::kModeShift);
  recipe.mask(mode, mode, 3);
  recipe.go_if_not_less(mode, 2, end);
  recipe.read_register(satp, kSatp, end);
  recipe.copy({at}, saved::kBytes, wire::PieceKind::kSystem, saved::kTag);
  recipe.enter(at, satp, mode);
}

}  // namespace ringside::guestos
