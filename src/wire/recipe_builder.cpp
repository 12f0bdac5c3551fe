#include "wire/recipe_builder.h"

#include <cassert>
#include <utility>

namespace ringside::wire {

using enum RecipeOpcode;

namespace {

constexpr std::uint8_t kOwnSlot = kRecipeSlots - 1;

constexpr std::uint8_t number_of_kind(PieceKind kind) { return static_cast<std::uint8_t>(kind); }

}  // namespace

RecipeBuilder::Slot RecipeBuilder::slot() {
  if (slots_ < kOwnSlot) return Slot(slots_++, recipe_);
  report(RecipeFault::kTooManySlots);
  return Slot(kOwnSlot, recipe_);
}

RecipeBuilder::Label RecipeBuilder::label() {
  targets_.emplace_back();
  return Label(static_cast<std::uint32_t>(targets_.size() - 1), recipe_);
}

void RecipeBuilder::report(RecipeFault fault) {
  if (!fault_) fault_ = fault;
}

std::uint8_t RecipeBuilder::number_of(Slot slot) {
  if (slot.recipe_ != recipe_) report(RecipeFault::kSlotOfOtherRecipe);
  return slot.number_;
}

RecipeBuilder::Target& RecipeBuilder::target_of(Label label) {
  if (label.recipe_ == recipe_) {
    Target& target = targets_[label.number_];
    if (!target.is_bound) return target;
    report(RecipeFault::kJumpBack);
  } else {
    report(RecipeFault::kLabelOfOtherRecipe);
  }
  return targets_[kEndLabel];
}

void RecipeBuilder::put(RecipeOp op, Label to) {
  target_of(to).jumps.push_back(ops_.size());
  put(op);
}

void RecipeBuilder::bind(Label label) {
  if (label.recipe_ != recipe_) return report(RecipeFault::kLabelOfOtherRecipe);
  Target& target = targets_[label.number_];
  if (target.is_bound || label.number_ == kEndLabel) return report(RecipeFault::kLabelBoundTwice);
  bind_here(target);
}

void RecipeBuilder::bind_here(Target& target) {
  target.is_bound = true;
  for (const std::size_t from : std::exchange(target.jumps, {}))
    ops_[from].skip = static_cast<std::uint16_t>(ops_.size() - from - 1);
}

void RecipeBuilder::end_recipe() {
  for (std::uint32_t n = 0; n < targets_.size(); ++n) {
    if (n != kEndLabel && !targets_[n].jumps.empty()) report(RecipeFault::kLabelBoundNowhere);
    bind_here(targets_[n]);
  }
  targets_.assign(1, {});
  slots_ = 0;
  ++recipe_;
}

void RecipeBuilder::next_recipe() {
  end_recipe();
  put({.opcode = kEnd});
}

std::vector<RecipeOp> RecipeBuilder::take() {
  end_recipe();
  assert(!fault_);
  fault_.reset();
  return std::exchange(ops_, {});
}

void RecipeBuilder::set(Slot to, std::uint64_t value) {
  put({.opcode = kSet, .dst = number_of(to), .imm = value});
}

void RecipeBuilder::add(Slot to, Slot a, std::uint64_t n) {
  put({.opcode = kAdd, .dst = number_of(to), .a = number_of(a), .imm = n});
}

void RecipeBuilder::add(Slot to, Slot a, Slot b) {
  put({.opcode = kAddSlots, .dst = number_of(to), .a = number_of(a), .b = number_of(b)});
}

void RecipeBuilder::subtract(Slot to, Slot a, Slot b) {
  put({.opcode = kSubtract, .dst = number_of(to), .a = number_of(a), .b = number_of(b)});
}

void RecipeBuilder::mask(Slot to, Slot from, std::uint64_t bits) {
  put({.opcode = kMask, .dst = number_of(to), .a = number_of(from), .imm = bits});
}

void RecipeBuilder::shift_right(Slot to, Slot from, unsigned bits) {
  put({.opcode = kShiftRight, .dst = number_of(to), .a = number_of(from), .imm = bits});
}

void RecipeBuilder::shift_left(Slot to, Slot from, unsigned bits) {
  put({.opcode = kShiftLeft, .dst = number_of(to), .a = number_of(from), .imm = bits});
}

void RecipeBuilder::read_register(Slot to, std::uint8_t reg, Label missing) {
  put({.opcode = kRegister, .dst = number_of(to), .a = reg}, missing);
}

void RecipeBuilder::load(Slot to, Place from, unsigned bytes, Label unmapped) {
  put({.opcode = kLoad,
       .dst = number_of(to),
       .a = number_of(from.base),
       .b = static_cast<std::uint8_t>(bytes),
       .imm = from.offset},
      unmapped);
}

void RecipeBuilder::load_signed(Slot to, Place from, unsigned bytes, Label unmapped) {
  load(to, from, bytes, unmapped);
  ops_.back().opcode = kLoadSigned;
}

void RecipeBuilder::jump_if(RecipeOpcode opcode, Slot a, std::uint64_t n, Label to) {
  put({.opcode = opcode, .a = number_of(a), .imm = n}, to);
}

void RecipeBuilder::jump_if(RecipeOpcode opcode, Slot a, Slot b, Label to) {
  put({.opcode = opcode, .a = number_of(a), .b = number_of(b)}, to);
}

// No slot is below 0.
void RecipeBuilder::go(Label to) { put({.opcode = kSkipIfNotLess}, to); }

void RecipeBuilder::go_if_less(Slot a, std::uint64_t n, Label to) {
  jump_if(kSkipIfLess, a, n, to);
}
void RecipeBuilder::go_if_less(Slot a, Slot b, Label to) { jump_if(kSkipIfLessSlot, a, b, to); }
void RecipeBuilder::go_if_not_less(Slot a, std::uint64_t n, Label to) {
  jump_if(kSkipIfNotLess, a, n, to);
}
void RecipeBuilder::go_if_not_less(Slot a, Slot b, Label to) {
  jump_if(kSkipIfNotLessSlot, a, b, to);
}
void RecipeBuilder::go_if_equal(Slot a, std::uint64_t n, Label to) {
  jump_if(kSkipIfEqual, a, n, to);
}
void RecipeBuilder::go_if_equal(Slot a, Slot b, Label to) { jump_if(kSkipIfEqualSlot, a, b, to); }
void RecipeBuilder::go_if_not_equal(Slot a, std::uint64_t n, Label to) {
  jump_if(kSkipIfNotEqual, a, n, to);
}
void RecipeBuilder::go_if_not_equal(Slot a, Slot b, Label to) {
  jump_if(kSkipIfNotEqualSlot, a, b, to);
}

std::uint8_t RecipeBuilder::address_of(Place place) {
  if (place.offset == 0) return number_of(place.base);
  add(Slot(kOwnSlot, recipe_), place.base, place.offset);
  return kOwnSlot;
}

void RecipeBuilder::copy(Place from, std::uint32_t bytes, PieceKind kind, std::uint16_t tag) {
  const std::uint8_t at = address_of(from);
  put({.opcode = kCopy, .a = at, .b = number_of_kind(kind), .tag = tag, .imm = bytes});
}

void RecipeBuilder::copy_string(Place from, std::uint32_t most_bytes, PieceKind kind,
                                std::uint16_t tag) {
  const std::uint8_t at = address_of(from);
  put({.opcode = kCopyString, .a = at, .b = number_of_kind(kind), .tag = tag, .imm = most_bytes});
}

void RecipeBuilder::copy_stack(Slot from, PieceKind kind, std::uint64_t alignment) {
  put({.opcode = kCopyStack, .a = number_of(from), .b = number_of_kind(kind), .imm = alignment});
}

void RecipeBuilder::copy_stack_at(Slot from, Slot read_at, PieceKind kind, std::uint64_t page,
                                  Label full) {
  put({.opcode = kCopyStackAt,
       .dst = number_of(read_at),
       .a = number_of(from),
       .b = number_of_kind(kind),
       .imm = page},
      full);
}

void RecipeBuilder::enter(Slot frame, Slot satp, Slot mode) {
  put({.opcode = kEnter, .dst = number_of(mode), .a = number_of(frame), .b = number_of(satp)});
}

void RecipeBuilder::emit(Slot value, std::uint16_t tag) {
  put({.opcode = kEmit, .a = number_of(value), .tag = tag});
}

}  // namespace ringside::wire
