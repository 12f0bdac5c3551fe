#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/types.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

// The bits of a return address that no pointer authentication code replaces (Arm ARM, D8.10, with
// the 48-bit addresses that kernels use).
inline constexpr std::uint64_t kReturnAddressBits = ~std::uint64_t{0} >> 16;

// A slot at the top of a stack, or its lowest word, in which entry code keeps the stack pointer
// that it left.
struct StackTop {
  enum class Kind : std::uint8_t {
    kTop,     // call-frame information or an interrupt frame describes the switch
    kPopped,  // the entry code pops the stack pointer from it: the unwinder is informed
              // (PieceKind::kStackLink)
    kBottom,  // as kTop, but the slot is the stack's lowest word, and was filled in by the caller
              // of the function that switches: that function's frame is copied too
    kRecord,  // as kTop, but it surely holds the frame pointer that was left
    kEmpty,   // the slot is the end of a stack, on which nothing may have been stored yet: where
              // the stack pointer is there, the frame pointer leads to the stack that was left
  };
  GuestVirt slot;
  Kind kind = Kind::kTop;
  // The slot belongs to a frame record as long as the next word has these kReturnAddressBits.
  std::optional<std::uint64_t> returns_to = std::nullopt;
};

// A frame record at a distance from the end of a stack, wherever that is: the one of the first
// function there, which leads to the stack that was left.
struct EndRecord {
  std::uint64_t below_end = 0;   // bytes from it to the stack's end
  std::uint64_t returns_to = 0;  // kReturnAddressBits of the word behind it

  bool operator==(const EndRecord&) const = default;
};

// Stacks of which is not known where they are, only that they end at multiples of an alignment.
struct UnknownStacks {
  struct Code {
    GuestVirt start;
    std::uint64_t size = 0;

    bool operator==(const Code&) const = default;
  };
  std::vector<EndRecord> records = {};
  // Code that runs on such a stack while it is empty: the frame pointer leads to the stack that was
  // left.
  std::vector<Code> empty_in = {};
};

// Room in a vCPU's recipe: for links to stacks of the kernel, which has a few per vCPU, and to user
// code's stacks, of the threads that ran last.
inline constexpr std::size_t kMaxKernelLinks = 8;
inline constexpr std::size_t kMaxUserLinks = 48;

// A slot in which unwinding has found the pointer to another stack. Where functions save the link
// register behind the frame pointer, other code may keep anything else there, device memory's
// address too: `returns_to`, of the word behind it, shows whether it is the same frame.
struct LearntLink {
  GuestVirt slot;
  std::optional<std::uint64_t> returns_to = std::nullopt;
  bool leads_to_user = false;  // the slot is at the top of a thread's stack in the kernel, and the
                               // other stack user code's

  bool operator==(const LearntLink&) const = default;
};

// Lessons from the stacks that were unwound before, for the next captures of a vCPU.
struct Learnt {
  std::span<const LearntLink> links = {};
  bool hooked_returns = false;  // a tracer has put away return addresses (unwind/return_hook.h)
};

// Goes to the label in user mode (any other mode is kernel code here, in whichever level it runs),
// or where the register that shows the mode was not read. go_if_kernel(): the opposite.
void go_if_user(wire::RecipeBuilder& recipe, Arch arch, wire::RecipeBuilder::Label to);
void go_if_kernel(wire::RecipeBuilder& recipe, Arch arch, wire::RecipeBuilder::Label to);

struct KernelStacks {
  std::vector<StackTop> tops = {};
  std::uint64_t size = 0;  // bytes below a top in which the stack pointer is on its stack
  // If it is not 0: every stack ends at a multiple of it, and what lies behind, which may be device
  // memory, is not read.
  std::uint64_t alignment = 0;
  // Only with an alignment.
  UnknownStacks unknown = {};
  // Slots that hold user code's stack pointer, one in each of the kernel's stacks of threads. The
  // nearest above the stack pointer counts, or above that of the stack that was left, within `size`
  // bytes. All tops are kTop then.
  std::vector<GuestVirt> to_user = {};
};

// Copies the current stack of kernel code and, where the stack pointer is below a known top, the
// stack that was left there; and so on from that stack, by the tops that come later; a kTop may
// hold something else. User code is not copied: the recipe ends in user mode, and where an
// architecture is not known.
void copy_stacks(wire::RecipeBuilder& recipe, Arch arch, const KernelStacks& stacks);

}  // namespace ringside::guestos
