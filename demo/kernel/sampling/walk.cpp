#include "sampling/walk.h"

#include "arch/cpu.h"
#include "arch/instructions.h"
#include "core/layout.h"
#include "core/thread.h"

extern "C" const u64 irq_entries[2];  // where they begin and end

namespace {

constexpr u64 kLowestUserAddress = kPageSize, kUserEnd = 0x7fffffff0000;
constexpr u64 kUserCode = 0x23;  // arch/asm.h

struct Range {
  u64 low, high;
  INLINE bool holds(u64 address, u64 bytes) const {
    return address % 8 == 0 && address >= low && address + bytes <= high;
  }
};

INLINE Range stack_of(const Thread* thread) {
  return {thread->kernel_stack - kThreadStackBytes, thread->kernel_stack};
}
INLINE Range interrupt_stack(const Cpu& cpu) {
  const u64 end = cpu.irq_stack_slot + 8;
  return {end - kIrqStackBytes, end};
}

// The stack that the stack pointer is on. While threads are switched it may be another one than the
// current thread's.
Range current_stack(const Cpu& cpu, u64 rsp) {
  const u64 word = rsp & ~7ull;
  if (interrupt_stack(cpu).holds(word, 8)) return interrupt_stack(cpu);
  for (u32 i = 0; i < cpu.thread_count; ++i)
    if (stack_of(cpu.threads[i]).holds(word, 8)) return stack_of(cpu.threads[i]);
  return cpu.idle && stack_of(cpu.idle).holds(word, 8) ? stack_of(cpu.idle) : Range{};
}

INLINE bool is_interrupt_entry(u64 address) {
  return address > irq_entries[0] && address <= irq_entries[1];
}

INLINE u64 word_at(u64 address) { return *reinterpret_cast<volatile u64*>(address); }

// Frame pointers lead from an interrupt's handler past the code that it has interrupted: the entry
// stub makes no frame. The registers that it has saved lie above the handler's frame, or, where the
// stub has changed stacks, where that stack's top slot says.
INLINE const SavedRegisters* saved_above(u64 frame, const Cpu& cpu) {
  const u64 above = frame + 16;
  return reinterpret_cast<const SavedRegisters*>(above == cpu.irq_stack_slot ? word_at(above)
                                                                             : above);
}

// Goes on at a frame pointer, over the stacks of all interrupts.
void follow(u64 frame, const Range& thread, const Cpu& cpu, uintptr_t* frames,
            ringside_stack& stack) {
  const Range stacks[] = {thread, interrupt_stack(cpu)};
  while (frame != 0) {
    stack.stop = RINGSIDE_UNREADABLE;
    if (!stacks[0].holds(frame, 16) && !stacks[1].holds(frame, 16)) return;
    const u64 caller = word_at(frame + 8);
    if (caller == 0) break;
    stack.stop = RINGSIDE_TOO_DEEP;
    if (stack.count + 2 > RINGSIDE_MAX_FRAMES) return;
    frames[stack.count++] = caller;
    if (is_interrupt_entry(caller)) {
      const SavedRegisters& saved = *saved_above(frame, cpu);
      stack.stop = RINGSIDE_USER_MODE;
      if (saved.is_user()) return;
      const Range own = current_stack(cpu, saved.rsp);
      const ringside_registers at{saved.rip, saved.rsp, saved.rbp, 0};
      ringside_note_interruption(&stack, &at, own.low, own.high, nullptr);
      frames[stack.count++] = saved.rip;
    }
    frame = word_at(frame);
  }
  stack.stop = RINGSIDE_END;
}

INLINE u64* next_level(u64 entry) {
  constexpr u64 kAddressMask = 0x000ffffffffff000;
  return static_cast<u64*>(physical_to_virtual(entry & kAddressMask));
}

// A word of user memory, as far as it is mapped for ring 3 (Intel SDM vol. 3, 4.5).
int read_user_word(uintptr_t address, uintptr_t* word) {
  constexpr u64 kUserPage = 5;  // present, user
  u64 entry = read_cr3();
  for (u32 shift = 39; shift >= 12; shift -= 9) {
    entry = next_level(entry)[address >> shift & 511];
    if ((entry & kUserPage) != kUserPage) return 0;
  }
  *word = next_level(entry)[address % kPageSize / 8];
  return 1;
}

}  // namespace

ringside_stack walk_kernel(const SavedRegisters& interrupted, uintptr_t* frames) {
  const Cpu& cpu = this_cpu();
  const Range own = current_stack(cpu, interrupted.rsp);
  const bool is_on_thread = own.low != 0 && own.low != interrupt_stack(cpu).low;
  const ringside_registers at{interrupted.rip, interrupted.rsp, interrupted.rbp, 0};
  // The library notes where the code was interrupted, and walks no further than one stack.
  ringside_stack stack = ringside_walk(&at, own.low, own.high, nullptr, frames);
  stack.count = 1;
  follow(interrupted.rbp, is_on_thread ? own : stack_of(cpu.current), cpu, frames, stack);
  return stack;
}

const SavedRegisters* entered_from(const Cpu& cpu, const SavedRegisters& interrupted) {
  if (!cpu.current->process) return nullptr;
  const u64 low = current_stack(cpu, interrupted.rsp).low;
  if (low != stack_of(cpu.current).low && low != interrupt_stack(cpu).low) return nullptr;
  const auto* saved =
      reinterpret_cast<const SavedRegisters*>(cpu.current->kernel_stack - sizeof(SavedRegisters));
  return saved->cs == kUserCode ? saved : nullptr;
}

ringside_stack walk_user(const SavedRegisters& entered, uintptr_t* frames) {
  const ringside_registers at{entered.rip, entered.rsp, entered.rbp, 0};
  return ringside_walk(&at, kLowestUserAddress, kUserEnd, read_user_word, frames);
}
