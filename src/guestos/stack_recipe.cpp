#include "guestos/stack_recipe.h"

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::guestos {
namespace {

using wire::PieceKind;
using wire::RecipeBuilder;

void go_by_mode(RecipeBuilder& recipe, Arch arch, bool if_user, RecipeBuilder::Label to) {
  const arch::UserMode& user = arch::info_of(arch).user_mode;
  const auto mode = recipe.slot();
  recipe.read_register(mode, user.reg, to);
  recipe.mask(mode, mode, user.mask);
  if (if_user)
    recipe.go_if_equal(mode, user.value, to);
  else
    recipe.go_if_not_equal(mode, user.value, to);
}

// How much of the stack that was left lies below the pointer to it. i386: the frame of the function
// that switches stacks, call_on_stack() (16 bytes with GCC 12), lies below the stack pointer that
// its caller stored. riscv64: the pointer is a frame pointer, below which its frame record lies.
std::uint64_t below_pointer(const arch::ArchInfo& info, const StackTop& top) {
  if (top.kind == StackTop::Kind::kBottom) return 64;
  return static_cast<std::uint64_t>(-info.frame_record.from_fp) * info.roles.pointer_size;
}

class StackRecipe {
 public:
  StackRecipe(RecipeBuilder& recipe, const arch::ArchInfo& info, std::uint64_t stack_size,
              std::uint64_t alignment)
      : recipe_(recipe), info_(info), stack_size_(stack_size), alignment_(alignment) {}

  void copy_current() {
    const auto end = recipe_.recipe_end();
    guestos::go_if_user(recipe_, info_.id, end);
    recipe_.read_register(sp_, info_.roles.sp, end);
    recipe_.copy_stack(sp_, PieceKind::kCurrentStack, alignment_);
  }

  // The stack that was left, where the stack pointer is on the one that `top` belongs to.
  void copy_left(const StackTop& top) {
    const auto next = recipe_.label();
    const bool is_bottom = top.kind == StackTop::Kind::kBottom;
    recipe_.set(top_, top.slot.value);
    recipe_.subtract(distance_, is_bottom ? sp_ : top_, is_bottom ? top_ : sp_);
    const std::uint64_t within = top.kind == StackTop::Kind::kEmpty ? 1 : stack_size_;
    recipe_.go_if_not_less(distance_, within + (is_bottom ? 1 : 0), next);
    if (top.kind == StackTop::Kind::kEmpty)
      recipe_.read_register(left_, info_.roles.fp, next);
    else
      load_left(top, next);
    copy_left_stack(top);
    // A learnt slot may hold something else today: the next ones are examined all the same.
    if (top.kind != StackTop::Kind::kTop && top.kind != StackTop::Kind::kEmpty)
      recipe_.assign(sp_, left_);
    recipe_.bind(next);
  }

  // The same by a record at that distance from the end of the current stack.
  void copy_left(const EndRecord& record) {
    const auto next = recipe_.label();
    recipe_.mask(distance_, sp_, alignment_ - 1);
    recipe_.go_if_equal(distance_, 0, next);  // behind an empty stack another one's end follows
    recipe_.subtract(top_, sp_, distance_);
    recipe_.add(top_, top_, alignment_ - record.below_end);
    recipe_.subtract(distance_, top_, sp_);
    recipe_.go_if_not_less(distance_, alignment_, next);
    load_left({.slot = {}, .returns_to = record.returns_to}, next);
    copy_left_stack({});
    recipe_.bind(next);
  }

  // The same where this code runs at the end of a stack.
  void copy_left(const UnknownStacks::Code& code) {
    const auto next = recipe_.label();
    recipe_.mask(distance_, sp_, alignment_ - 1);
    recipe_.go_if_not_equal(distance_, 0, next);
    recipe_.read_register(distance_, info_.roles.pc, next);
    recipe_.subtract(distance_, distance_, code.start.value);
    recipe_.go_if_not_less(distance_, code.size, next);
    recipe_.read_register(left_, info_.roles.fp, next);
    copy_left_stack({});
    recipe_.bind(next);
  }

  // User code's stack, by the nearest of these slots above one of the kernel's.
  void copy_user_stack(std::vector<GuestVirt> slots) {
    constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 47;
    std::sort(slots.begin(), slots.end());
    const auto user_sp = recipe_.slot();
    for (const auto stack : {sp_, left_}) {
      const auto found = recipe_.label();
      const auto next = recipe_.label();
      for (const GuestVirt slot : slots) {
        recipe_.set(top_, slot.value);
        recipe_.subtract(distance_, top_, stack);
        recipe_.go_if_less(distance_, stack_size_, found);
      }
      recipe_.go(next);
      recipe_.bind(found);
      recipe_.load(user_sp, {top_}, info_.roles.pointer_size, next);
      recipe_.go_if_not_less(user_sp, kUpperHalf, next);
      recipe_.go_if_equal(user_sp, 0, next);
      recipe_.copy_stack(user_sp, PieceKind::kUserStack);
      recipe_.bind(next);
    }
  }

 private:
  void copy_left_stack(const StackTop& top) {
    recipe_.subtract(left_, left_, below_pointer(info_, top));
    recipe_.copy_stack(left_, PieceKind::kInterruptedStack, alignment_);
  }

  void load_left(const StackTop& top, RecipeBuilder::Label next) {
    const unsigned word = info_.roles.pointer_size;
    if (top.kind == StackTop::Kind::kPopped) recipe_.copy({top_}, word, PieceKind::kStackLink);
    if (top.returns_to) {
      recipe_.load(return_, {top_, word}, word, next);
      recipe_.mask(return_, return_, kReturnAddressBits);
      recipe_.go_if_not_equal(return_, *top.returns_to, next);
    }
    recipe_.load(left_, {top_}, word, next);
  }

  RecipeBuilder& recipe_;
  const arch::ArchInfo& info_;
  std::uint64_t stack_size_;
  std::uint64_t alignment_;
  RecipeBuilder::Slot sp_ = recipe_.slot();
  RecipeBuilder::Slot top_ = recipe_.slot();
  RecipeBuilder::Slot distance_ = recipe_.slot();
  RecipeBuilder::Slot left_ = recipe_.slot();
  RecipeBuilder::Slot return_ = recipe_.slot();
};

}  // namespace

void go_if_user(RecipeBuilder& recipe, Arch arch, RecipeBuilder::Label to) {
  go_by_mode(recipe, arch, true, to);
}

void go_if_kernel(RecipeBuilder& recipe, Arch arch, RecipeBuilder::Label to) {
  go_by_mode(recipe, arch, false, to);
}

void copy_stacks(RecipeBuilder& recipe, Arch arch, const KernelStacks& stacks) {
  const arch::ArchInfo& info = arch::info_of(arch);
  if (!info.roles.known()) return;
  StackRecipe writer(recipe, info, stacks.size, stacks.alignment);
  writer.copy_current();
  for (const StackTop& top : stacks.tops) writer.copy_left(top);
  if (stacks.alignment != 0) {
    for (const EndRecord& record : stacks.unknown.records) writer.copy_left(record);
    for (const UnknownStacks::Code& code : stacks.unknown.empty_in) writer.copy_left(code);
  }
  if (!stacks.to_user.empty()) writer.copy_user_stack(stacks.to_user);
}

}  // namespace ringside::guestos
