#include "wire/recipe_builder.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside::wire {
namespace {

// Memory of 256 bytes from 0x1000 on.
constexpr std::uint64_t kMemory = 0x1000;

// Runs a program as an engine does.
Capture run(RecipeBuilder& builder, std::string memory = {}, RecipeBudget budget = {}) {
  memory.resize(256, '\0');
  const auto program = builder.take();
  Capture capture;
  capture.registers.set(arch::x86_64::kRsp, 0x7000);
  RecipeRun recipe_run(program, capture.registers, budget);
  while (const auto request = recipe_run.next()) {
    const std::uint64_t at = request->read_at.value - kMemory;
    const std::size_t there = at < memory.size() ? memory.size() - at : 0;
    const std::size_t got = std::min<std::size_t>(request->size, there);
    if (request->is_load()) {
      std::uint64_t value = 0;
      std::memcpy(&value, memory.data() + (got == 0 ? 0 : at), got);
      recipe_run.loaded(got == request->size ? std::optional(value) : std::nullopt);
      continue;
    }
    const std::size_t offset = capture.bytes.size();
    const auto bytes = std::as_bytes(std::span(memory)).subspan(got == 0 ? 0 : at, got);
    if (request->what != MemoryRequest::What::kValue)
      capture.bytes.insert(capture.bytes.end(), bytes.begin(), bytes.end());
    finish_piece(capture, *request, offset);
  }
  return capture;
}

std::string text_of(const Capture& capture, const MemoryPiece& piece) {
  const Bytes bytes = capture.bytes_of(piece);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t value_of(const Capture& capture, std::uint16_t tag) {
  const MemoryPiece* const piece = capture.tagged(tag);
  std::uint64_t value = 0;
  EXPECT_TRUE(piece != nullptr && piece->size == sizeof(value));
  if (piece != nullptr) std::memcpy(&value, capture.bytes_of(*piece).data(), sizeof(value));
  return value;
}

TEST(RecipeBuilder, PiecesAreFoundByTheirTags) {
  RecipeBuilder builder;
  const auto at = builder.slot();
  builder.set(at, kMemory);
  builder.copy({at, 4}, 3, PieceKind::kSystem, 7);
  builder.copy({at}, 2, PieceKind::kSystem, 5);
  const Capture capture = run(builder, "abcdefgh");
  ASSERT_NE(capture.tagged(5), nullptr);
  ASSERT_NE(capture.tagged(7), nullptr);
  EXPECT_EQ(text_of(capture, *capture.tagged(5)), "ab");
  EXPECT_EQ(text_of(capture, *capture.tagged(7)), "efg");
  EXPECT_EQ(capture.tagged(7)->address.value, kMemory + 4);
  EXPECT_EQ(capture.tagged(6), nullptr);
}

TEST(RecipeBuilder, LoadsHaveASizeAndASign) {
  RecipeBuilder builder;
  const auto at = builder.slot();
  const auto value = builder.slot();
  const auto missing = builder.recipe_end();
  builder.set(at, kMemory);
  std::uint16_t tag = 1;
  for (const unsigned bytes : {1u, 2u, 4u, 8u}) {
    builder.load(value, {at}, bytes, missing);
    builder.emit(value, tag++);
    builder.load_signed(value, {at}, bytes, missing);
    builder.emit(value, tag++);
  }
  const Capture capture = run(builder, std::string("\x81\x82\x83\x84\x85\x86\x87\x88", 8));
  EXPECT_EQ(value_of(capture, 1), 0x81u);
  EXPECT_EQ(value_of(capture, 2), 0xffff'ffff'ffff'ff81u);
  EXPECT_EQ(value_of(capture, 3), 0x8281u);
  EXPECT_EQ(value_of(capture, 4), 0xffff'ffff'ffff'8281u);
  EXPECT_EQ(value_of(capture, 5), 0x8483'8281u);
  EXPECT_EQ(value_of(capture, 6), 0xffff'ffff'8483'8281u);
  EXPECT_EQ(value_of(capture, 7), 0x8887'8685'8483'8281u);
  EXPECT_EQ(value_of(capture, 8), 0x8887'8685'8483'8281u);
}

// A value is no memory: nothing finds it by an address.
TEST(RecipeBuilder, AnEmittedValueHasNoAddress) {
  RecipeBuilder builder;
  const auto value = builder.slot();
  builder.set(value, 42);
  builder.emit(value, 9);
  const Capture capture = run(builder);
  EXPECT_EQ(value_of(capture, 9), 42u);
  EXPECT_EQ(capture.tagged(9)->why, PieceKind::kValue);
  EXPECT_EQ(capture.read<std::uint64_t>(GuestVirt{0}), std::nullopt);
}

TEST(RecipeBuilder, AStringEndsAtItsZeroOrItsBound) {
  RecipeBuilder builder;
  const auto at = builder.slot();
  builder.set(at, kMemory);
  builder.copy_string({at}, 16, PieceKind::kSystem, 1);
  builder.copy_string({at}, 3, PieceKind::kSystem, 2);
  builder.copy_string({at, 5}, 16, PieceKind::kSystem, 3);
  builder.copy_string({at, 250}, 16, PieceKind::kSystem, 4);  // where memory ends
  std::string memory("hello\0", 6);
  memory.resize(250, '\0');
  memory += "ending";
  const Capture capture = run(builder, memory);
  EXPECT_EQ(text_of(capture, *capture.tagged(1)), "hello");
  EXPECT_EQ(capture.tagged(1)->requested, 16u);
  EXPECT_EQ(text_of(capture, *capture.tagged(2)), "hel");
  EXPECT_EQ(text_of(capture, *capture.tagged(3)), "");
  EXPECT_EQ(text_of(capture, *capture.tagged(4)), "ending");
}

// Where each comparison of two values leads, by slot and by number.
std::string comparisons(std::uint64_t a, std::uint64_t b) {
  std::string taken;
  for (const bool by_slot : {false, true}) {
    RecipeBuilder builder;
    const auto left = builder.slot();
    const auto right = builder.slot();
    builder.set(left, a);
    builder.set(right, b);
    const auto test = [&](std::uint16_t tag, auto go) {
      const auto away = builder.label();
      go(away);
      builder.emit(left, tag);  // what is left out where it jumped
      builder.bind(away);
    };
    test(1, [&](auto to) {
      by_slot ? builder.go_if_less(left, right, to) : builder.go_if_less(left, b, to);
    });
    test(2, [&](auto to) {
      by_slot ? builder.go_if_not_less(left, right, to) : builder.go_if_not_less(left, b, to);
    });
    test(3, [&](auto to) {
      by_slot ? builder.go_if_equal(left, right, to) : builder.go_if_equal(left, b, to);
    });
    test(4, [&](auto to) {
      by_slot ? builder.go_if_not_equal(left, right, to) : builder.go_if_not_equal(left, b, to);
    });
    test(5, [&](auto to) { builder.go(to); });
    const Capture capture = run(builder);
    for (std::uint16_t tag = 1; tag <= 5; ++tag)
      if (capture.tagged(tag) == nullptr) taken += static_cast<char>('0' + tag);
    taken += ' ';
  }
  return taken;
}

TEST(RecipeBuilder, ComparesSlotsAndNumbersUnsigned) {
  EXPECT_EQ(comparisons(1, 2), "145 145 ");
  EXPECT_EQ(comparisons(2, 2), "235 235 ");
  EXPECT_EQ(comparisons(~std::uint64_t{0}, 2), "245 245 ");
}

TEST(RecipeBuilder, AMissingRegisterAndUnmappedMemoryGoElsewhere) {
  RecipeBuilder builder;
  const auto value = builder.slot();
  const auto no_register = builder.label();
  const auto unmapped = builder.label();
  builder.read_register(value, arch::x86_64::kRsp, no_register);
  builder.emit(value, 1);
  builder.load(value, {value}, 8, unmapped);
  builder.emit(value, 2);
  builder.bind(unmapped);
  builder.read_register(value, arch::x86_64::kRbp, no_register);
  builder.emit(value, 3);
  builder.bind(no_register);
  builder.emit(value, 4);
  const Capture capture = run(builder);
  EXPECT_EQ(value_of(capture, 1), 0x7000u);
  EXPECT_EQ(capture.tagged(2), nullptr);
  EXPECT_EQ(capture.tagged(3), nullptr);
  EXPECT_EQ(value_of(capture, 4), 0x7000u);
}

// A recipe's end is its own; the next recipe has slots of its own.
TEST(RecipeBuilder, SeveralRecipesRunOneAfterTheOther) {
  RecipeBuilder builder;
  const auto first = builder.slot();
  builder.set(first, 1);
  builder.go(builder.recipe_end());
  builder.emit(first, 1);
  builder.next_recipe();
  const auto second = builder.slot();
  builder.emit(second, 2);
  builder.next_recipe();
  const auto third = builder.slot();
  builder.set(third, 3);
  builder.emit(third, 3);
  const Capture capture = run(builder);
  EXPECT_EQ(capture.tagged(1), nullptr);
  EXPECT_EQ(value_of(capture, 2), 0u);
  EXPECT_EQ(value_of(capture, 3), 3u);
}

// An operand out of range ends one recipe, not the ones behind it; all share one budget.
TEST(RecipeBuilder, RecipesShareABudgetAndNoFate) {
  RecipeBuilder builder;
  const auto at = builder.slot();
  builder.set(at, kMemory);
  builder.load(at, {at}, 3, builder.recipe_end());  // no such size
  builder.emit(at, 1);
  builder.next_recipe();
  const auto again = builder.slot();
  builder.set(again, kMemory);
  builder.copy({again}, 60, PieceKind::kSystem, 2);
  builder.copy({again}, 60, PieceKind::kSystem, 3);
  RecipeBudget budget;
  budget.bytes = 100;
  const Capture capture = run(builder, {}, budget);
  EXPECT_EQ(capture.tagged(1), nullptr);
  EXPECT_EQ(capture.tagged(2)->size, 60u);
  EXPECT_EQ(capture.tagged(3)->size, 40u);
}

TEST(RecipeBuilder, HasThirtyOneSlots) {
  RecipeBuilder builder;
  std::vector<RecipeBuilder::Slot> slots;
  for (std::size_t i = 0; i + 1 < kRecipeSlots; ++i) {
    slots.push_back(builder.slot());
    builder.set(slots.back(), i);
  }
  for (std::size_t i = 0; i < slots.size(); ++i)
    builder.emit(slots[i], static_cast<std::uint16_t>(100 + i));
  const Capture capture = run(builder);
  for (std::size_t i = 0; i < slots.size(); ++i)
    EXPECT_EQ(value_of(capture, static_cast<std::uint16_t>(100 + i)), i);
}

// The first fault that `write` makes in a recipe, which ends behind it.
template <typename Write>
std::optional<RecipeFault> fault_of(Write write) {
  RecipeBuilder builder;
  write(builder);
  builder.next_recipe();
  return builder.fault();
}

TEST(RecipeBuilder, ReportsASlotTooMany) {
  const auto with_slots = [](std::size_t count) {
    return fault_of([&](RecipeBuilder& builder) {
      for (std::size_t i = 0; i < count; ++i) static_cast<void>(builder.slot());
    });
  };
  EXPECT_EQ(with_slots(kRecipeSlots - 1), std::nullopt);
  EXPECT_EQ(with_slots(kRecipeSlots), RecipeFault::kTooManySlots);
}

TEST(RecipeBuilder, ReportsSlotsAndLabelsOfAnotherRecipe) {
  using enum RecipeFault;
  EXPECT_EQ(fault_of([](RecipeBuilder& builder) {
              const auto slot = builder.slot();
              builder.next_recipe();
              static_cast<void>(builder.slot());  // of the same number
              builder.emit(slot, 1);
            }),
            kSlotOfOtherRecipe);
  EXPECT_EQ(fault_of([](RecipeBuilder& builder) {
              const auto label = builder.label();
              builder.next_recipe();
              builder.go(label);
            }),
            kLabelOfOtherRecipe);
  EXPECT_EQ(fault_of([](RecipeBuilder& builder) {
              const auto label = builder.label();
              builder.next_recipe();
              builder.bind(label);
            }),
            kLabelOfOtherRecipe);
  EXPECT_EQ(fault_of([](RecipeBuilder& builder) {
              const auto end = builder.recipe_end();
              builder.next_recipe();
              builder.go(end);
            }),
            kLabelOfOtherRecipe);
}

TEST(RecipeBuilder, ReportsALabelThatIsNotBoundOnceBehindItsJumps) {
  using enum RecipeFault;
  EXPECT_EQ(fault_of([](RecipeBuilder& builder) { builder.go(builder.label()); }),
            kLabelBoundNowhere);
  EXPECT_EQ(fault_of([](RecipeBuilder& builder) {
              const auto label = builder.label();
              builder.go(label);
              builder.bind(label);
              builder.bind(label);
            }),
            kLabelBoundTwice);
  EXPECT_EQ(fault_of([](RecipeBuilder& builder) { builder.bind(builder.recipe_end()); }),
            kLabelBoundTwice);
  EXPECT_EQ(fault_of([](RecipeBuilder& builder) {
              const auto label = builder.label();
              builder.bind(label);
              builder.go(label);
            }),
            kJumpBack);
}

TEST(RecipeBuilder, ALabelThatNothingJumpsToNeedNotBeBound) {
  EXPECT_EQ(fault_of([](RecipeBuilder& builder) { static_cast<void>(builder.label()); }),
            std::nullopt);
}

}  // namespace
}  // namespace ringside::wire
