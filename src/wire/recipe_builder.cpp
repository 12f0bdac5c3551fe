#include "wire/recipe_builder.h"

#include <utility>

namespace ringside::wire {

using enum RecipeOpcode;

namespace {

constexpr std::uint8_t kOwnSlot = kRecipeSlots - 1;

constexpr std::uint8_t number(PieceKind kind) { return static_cast<std::uint8_t>(kind); }

}  // namespace

RecipeBuilder::Slot RecipeBuilder::slot() {
  // One too many would share the last one: recipes are written by hand, and tested.
  if (slots_ < kOwnSlot) return Slot(slots_++);
  return Slot(kOwnSlot);
}

RecipeBuilder::Label RecipeBuilder::label() {
  jumps_.emplace_back();
  return Label(jumps_.size() - 1);
}

void RecipeBuilder::put(RecipeOp op, Label to) {
  jumps_[to.number_].push_back(ops_.size());
  put(op);
}

void RecipeBuilder::bind(Label label) {
  for (const std::size_t from : std::exchange(jumps_[label.number_], {}))
    ops_[from].skip = static_cast<std::uint16_t>(ops_.size() - from - 1);
}

void RecipeBuilder::bind_all_to_end() {
  for (std::size_t n = 0; n < jumps_.size(); ++n) bind(Label(n));
  jumps_.clear();
  slots_ = 0;
}

void RecipeBuilder::next_recipe() {
  bind_all_to_end();
  put({.opcode = kEnd});
}

std::vector<RecipeOp> RecipeBuilder::take() {
  bind_all_to_end();
  return std::exchange(ops_, {});
}

void RecipeBuilder::set(Slot to, std::uint64_t value) {
  put({.opcode = kSet, .dst = to.number_, .imm = value});
}

void RecipeBuilder::add(Slot to, Slot a, std::uint64_t n) {
  put({.opcode = kAdd, .dst = to.number_, .a = a.number_, .imm = n});
}

void RecipeBuilder::add(Slot to, Slot a, Slot b) {
  put({.opcode = kAddSlots, .dst = to.number_, .a = a.number_, .b = b.number_});
}

void RecipeBuilder::subtract(Slot to, Slot a, Slot b) {
  put({.opcode = kSubtract, .dst = to.number_, .a = a.number_, .b = b.number_});
}

void RecipeBuilder::mask(Slot to, Slot from, std::uint64_t bits) {
  put({.opcode = kMask, .dst = to.number_, .a = from.number_, .imm = bits});
}

void RecipeBuilder::shift_right(Slot to, Slot from, unsigned bits) {
  put({.opcode = kShiftRight, .dst = to.number_, .a = from.number_, .imm = bits});
}

void RecipeBuilder::shift_left(Slot to, Slot from, unsigned bits) {
  put({.opcode = kShiftLeft, .dst = to.number_, .a = from.number_, .imm = bits});
}

void RecipeBuilder::read_register(Slot to, std::uint8_t reg, Label missing) {
  put({.opcode = kRegister, .dst = to.number_, .a = reg}, missing);
}

void RecipeBuilder::load(Slot to, Place from, unsigned bytes, Label unmapped) {
  put({.opcode = kLoad,
       .dst = to.number_,
       .a = from.base.number_,
       .b = static_cast<std::uint8_t>(bytes),
       .imm = from.offset},
      unmapped);
}

void RecipeBuilder::load_signed(Slot to, Place from, unsigned bytes, Label unmapped) {
  load(to, from, bytes, unmapped);
  ops_.back().opcode = kLoadSigned;
}

void RecipeBuilder::jump_if(RecipeOpcode opcode, Slot a, std::uint64_t n, Label to) {
  put({.opcode = opcode, .a = a.number_, .imm = n}, to);
}

void RecipeBuilder::jump_if(RecipeOpcode opcode, Slot a, Slot b, Label to) {
  put({.opcode = opcode, .a = a.number_, .b = b.number_}, to);
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
  if (place.offset == 0) return place.base.number_;
  add(Slot(kOwnSlot), place.base, place.offset);
  return kOwnSlot;
}

void RecipeBuilder::copy(Place from, std::uint32_t bytes, PieceKind kind, std::uint16_t tag) {
  const std::uint8_t at = address_of(from);
  put({.opcode = kCopy, .a = at, .b = number(kind), .tag = tag, .imm = bytes});
}

void RecipeBuilder::copy_string(Place from, std::uint32_t most_bytes, PieceKind kind,
                                std::uint16_t tag) {
  const std::uint8_t at = address_of(from);
  put({.opcode = kCopyString, .a = at, .b = number(kind), .tag = tag, .imm = most_bytes});
}

void RecipeBuilder::copy_stack(Slot from, PieceKind kind, std::uint64_t alignment) {
  put({.opcode = kCopyStack, .a = from.number_, .b = number(kind), .imm = alignment});
}

void RecipeBuilder::copy_stack_at(Slot from, Slot read_at, PieceKind kind, std::uint64_t page,
                                  Label full) {
  put({.opcode = kCopyStackAt,
       .dst = read_at.number_,
       .a = from.number_,
       .b = number(kind),
       .imm = page},
      full);
}

void RecipeBuilder::emit(Slot value, std::uint16_t tag) {
  put({.opcode = kEmit, .a = value.number_, .tag = tag});
}

}  // namespace ringside::wire
