#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wire/recipe.h"

namespace ringside::wire {

// How a recipe was written wrongly.
enum class RecipeFault : std::uint8_t {
  kTooManySlots,        // slot() was called more than kRecipeSlots - 1 times in one recipe
  kSlotOfOtherRecipe,   // a slot was used behind next_recipe() or take()
  kLabelOfOtherRecipe,  // a label was used there
  kLabelBoundTwice,     // recipe_end() is bound from the start
  kLabelBoundNowhere,   // an operation jumps to it
  kJumpBack,            // an operation jumps to a label that was bound before it
};

// Writes capture recipes in words. Slots are handed out, jumps go to labels, and what is copied
// comes back under the tag that the copy was given (MemoryPiece::tag), wherever it stands.
//
//   RecipeBuilder b;
//   const auto task = b.slot();
//   b.load(task, {current, 0}, 8, no_task);
//   b.copy({task, types.task.pid.offset}, 4, PieceKind::kSystem, kTaskTag);
//   b.bind(no_task);
//
// Recipes are written by hand, so a wrong one is an error in ringside: fault() reports the first.
// The program stays safe to run. A slot too many is the last one, and a jump without a target goes
// to the end of its recipe.
class RecipeBuilder {
 public:
  class Slot {
    friend class RecipeBuilder;
    Slot(std::uint8_t number, std::uint32_t recipe) : number_(number), recipe_(recipe) {}
    std::uint8_t number_;
    std::uint32_t recipe_;
  };
  class Label {
    friend class RecipeBuilder;
    Label(std::uint32_t number, std::uint32_t recipe) : number_(number), recipe_(recipe) {}
    std::uint32_t number_;
    std::uint32_t recipe_;
  };
  // An address: what a slot holds, and bytes from there.
  struct Place {
    Slot base;
    std::uint64_t offset = 0;
  };

  // A slot not yet used in this recipe. It holds 0. There are kRecipeSlots - 1 in each.
  [[nodiscard]] Slot slot();
  // A label for jumps to come, in this recipe.
  [[nodiscard]] Label label();
  // The label of this recipe's end. It is bound already.
  [[nodiscard]] Label recipe_end() const { return Label(kEndLabel, recipe_); }

  void set(Slot to, std::uint64_t value);
  void assign(Slot to, Slot from) { add(to, from, std::uint64_t{0}); }
  void add(Slot to, Slot a, std::uint64_t n);
  void add(Slot to, Slot a, Slot b);
  void subtract(Slot to, Slot a, std::uint64_t n) { add(to, a, std::uint64_t{0} - n); }
  void subtract(Slot to, Slot a, Slot b);
  void mask(Slot to, Slot from, std::uint64_t bits);
  void shift_right(Slot to, Slot from, unsigned bits);
  void shift_left(Slot to, Slot from, unsigned bits);
  // By the numbers of arch/NAME.h. Goes to `missing` where the register was not read.
  void read_register(Slot to, std::uint8_t reg, Label missing);

  // 1, 2, 4 or 8 bytes, zero-extended or with their sign. Goes to `unmapped` where they cannot be
  // read.
  void load(Slot to, Place from, unsigned bytes, Label unmapped);
  void load_signed(Slot to, Place from, unsigned bytes, Label unmapped);

  // Comparisons are unsigned.
  void go(Label to);
  void go_if_less(Slot a, std::uint64_t n, Label to);
  void go_if_less(Slot a, Slot b, Label to);
  void go_if_not_less(Slot a, std::uint64_t n, Label to);
  void go_if_not_less(Slot a, Slot b, Label to);
  void go_if_equal(Slot a, std::uint64_t n, Label to);
  void go_if_equal(Slot a, Slot b, Label to);
  void go_if_not_equal(Slot a, std::uint64_t n, Label to);
  void go_if_not_equal(Slot a, Slot b, Label to);
  // The label is here. A label is bound once.
  void bind(Label label);

  void copy(Place from, std::uint32_t bytes, PieceKind kind, std::uint16_t tag = 0);
  // Up to the first zero byte, or so many bytes.
  void copy_string(Place from, std::uint32_t most_bytes, PieceKind kind, std::uint16_t tag = 0);
  // As much as the budget of that kind of piece allows. Stacks end at multiples of `alignment`; 0:
  // anywhere.
  void copy_stack(Slot from, PieceKind kind, std::uint64_t alignment = 0);
  // A part of a stack up to a multiple of `page` bytes, read where it is mapped at `read_at` too.
  // Goes to `full` where the budget is used up with it.
  void copy_stack_at(Slot from, Slot read_at, PieceKind kind, std::uint64_t page, Label full);
  // 8 bytes that no memory holds.
  void emit(Slot value, std::uint16_t tag);

  // riscv64 in machine mode: registers and memory are, to the end of the program, those of the code
  // that firmware has interrupted. Its registers are saved at `frame` (0: not yet), `satp` is that
  // register's value, `mode` 0 (user) or 1 (supervisor).
  void enter(Slot frame, Slot satp, Slot mode);

  // Begins another recipe, with slots and labels of its own.
  void next_recipe();
  // The first fault since the last take(). Labels are checked where their recipe ends.
  [[nodiscard]] std::optional<RecipeFault> fault() const { return fault_; }
  // The program, which must have no fault. The builder is empty then.
  [[nodiscard]] std::vector<RecipeOp> take();

 private:
  struct Target {
    std::vector<std::size_t> jumps;  // the operations that skip to it
    bool is_bound = false;
  };
  static constexpr std::uint32_t kEndLabel = 0;

  void put(const RecipeOp& op) { ops_.push_back(op); }
  // `op` skips to the label.
  void put(RecipeOp op, Label to);
  void jump_if(RecipeOpcode opcode, Slot a, std::uint64_t n, Label to);
  void jump_if(RecipeOpcode opcode, Slot a, Slot b, Label to);
  // The slot that holds a place's address: its own, or one for the builder's own use.
  [[nodiscard]] std::uint8_t address_of(Place place);
  // A slot's number, where it is this recipe's.
  [[nodiscard]] std::uint8_t number_of(Slot slot);
  // The target that the label stands for; the end in place of one that cannot be reached.
  [[nodiscard]] Target& target_of(Label label);
  void report(RecipeFault fault);
  void bind_here(Target& target);
  void end_recipe();

  std::vector<RecipeOp> ops_;
  std::vector<Target> targets_{1};  // by label; the first is the end of the recipe
  std::uint8_t slots_ = 0;
  std::uint32_t recipe_ = 0;  // counts recipes, so that slots and labels of others are known
  std::optional<RecipeFault> fault_;
};

}  // namespace ringside::wire
