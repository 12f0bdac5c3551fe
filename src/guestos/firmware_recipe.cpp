#include "guestos/firmware_recipe.h"

#include "arch/riscv64.h"
#include "wire/firmware_frame.h"

namespace ringside::guestos {
namespace {

using namespace arch::riscv64;
namespace saved = wire::firmware_frame;
using wire::RecipeBuilder;

// `status` is mstatus. A later trap has other registers than the frame. Firmware steps over the
// instruction that has called it in the frame only.
void check_frame(RecipeBuilder& recipe, RecipeBuilder::Slot at, RecipeBuilder::Slot status) {
  const auto end = recipe.recipe_end();
  const auto is_same_pc = recipe.label();
  const auto expected = recipe.slot();
  const auto found = recipe.slot();
  recipe.read_register(found, kSp, end);
  recipe.subtract(found, at, found);
  recipe.subtract(found, found, 1);
  recipe.go_if_not_less(found, saved::kMostBelow, end);
  recipe.read_register(expected, kSepc, end);
  recipe.load(found, {at, saved::offset_of(kPc)}, saved::kWord, end);
  recipe.go_if_equal(found, expected, is_same_pc);
  recipe.add(expected, expected, saved::kEcallBytes);
  recipe.go_if_not_equal(found, expected, end);
  recipe.bind(is_same_pc);
  recipe.load(found, {at, saved::kStatus}, saved::kWord, end);
  recipe.mask(expected, status, ~saved::kChanges);
  recipe.mask(found, found, ~saved::kChanges);
  recipe.go_if_not_equal(found, expected, end);
  recipe.copy({at}, saved::kBytes, wire::PieceKind::kSystem, saved::kTag);
}

}  // namespace

void enter_interrupted_code(RecipeBuilder& recipe, std::optional<GuestVirt> frame) {
  const auto end = recipe.recipe_end();
  const auto at_entry = recipe.label();
  const auto is_saved = recipe.label();
  const auto at = recipe.slot();
  const auto pc = recipe.slot();
  const auto status = recipe.slot();
  const auto mode = recipe.slot();
  const auto satp = recipe.slot();
  recipe.read_register(mode, kPriv, end);
  recipe.mask(mode, mode, 3);
  recipe.go_if_not_equal(mode, saved::kMachine, end);
  recipe.read_register(status, kSstatus, end);
  recipe.mask(mode, status, saved::kIsGuests | saved::kReadsAsCaller);
  recipe.go_if_not_equal(mode, 0, end);
  recipe.shift_right(mode, status, saved::kModeShift);
  recipe.mask(mode, mode, 3);
  recipe.go_if_not_less(mode, 2, end);
  recipe.read_register(satp, kSatp, end);
  recipe.read_register(pc, kPc, end);
  recipe.read_register(at, kStvec, is_saved);
  recipe.mask(at, at, saved::kEntry);
  recipe.go_if_equal(at, pc, at_entry);
  recipe.bind(is_saved);
  if (frame) {
    recipe.set(at, frame->value);
    check_frame(recipe, at, status);
    recipe.enter(at, satp, mode);
  }
  recipe.go(end);
  recipe.bind(at_entry);
  recipe.set(at, 0);
  recipe.emit(pc, saved::kTag);
  recipe.enter(at, satp, mode);
}

}  // namespace ringside::guestos
