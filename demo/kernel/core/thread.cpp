#include "core/thread.h"

#include "arch/instructions.h"
#include "core/memory.h"

extern "C" void switch_to(u64* save_rsp, u64 next_rsp);
extern "C" void thread_start();
extern "C" const char boot_pml4[];

namespace {

Thread* make_thread(void (*entry)(void*), void* argument) {
  auto* thread = static_cast<Thread*>(allocate(sizeof(Thread)));
  thread->kernel_stack = reinterpret_cast<u64>(allocate(kThreadStackBytes)) + kThreadStackBytes;
  thread->page_table = reinterpret_cast<u64>(boot_pml4);
  // The words that switch_to pops: r15, r14, r13, r12, rbx, rbp, and its return address (see
  // thread_start).
  auto* stack = reinterpret_cast<u64*>(thread->kernel_stack) - 8;
  stack[3] = reinterpret_cast<u64>(argument);
  stack[4] = reinterpret_cast<u64>(entry);
  stack[6] = reinterpret_cast<u64>(&thread_start) + 1;
  thread->rsp = reinterpret_cast<u64>(stack);
  return thread;
}

}  // namespace

extern "C" void idle_loop(void*) {
  for (;;) {
    disable_interrupts();
    schedule();
    asm volatile(
        "sti; hlt\n"
        "1:\n"
        ".pushsection .rodata\n"
        ".p2align 3\n"
        ".globl idle_halted_at\n"
        "idle_halted_at: .quad 1b\n"
        ".popsection");
  }
}

Thread* new_thread(void (*entry)(void*), void* argument) {
  Cpu& cpu = this_cpu();
  Thread* thread = make_thread(entry, argument);
  cpu.threads[cpu.thread_count++] = thread;
  return thread;
}

void exit_thread() {
  disable_interrupts();
  this_cpu().current->dead = true;
  schedule();
  __builtin_unreachable();
}

INLINE Thread* pick_next(Cpu& cpu) {
  u64 fewest = ~0ull;
  for (u32 i = 0; i < cpu.thread_count; ++i) {
    if (!cpu.threads[i]->dead && cpu.threads[i]->units < fewest) fewest = cpu.threads[i]->units;
  }
  for (u32 i = 1; i <= cpu.thread_count; ++i) {
    const u32 at = (cpu.last_picked + i) % cpu.thread_count;
    if (cpu.threads[at]->dead || cpu.threads[at]->units != fewest) continue;
    cpu.last_picked = at;
    return cpu.threads[at];
  }
  return cpu.idle;
}

extern "C" void schedule() {
  Cpu& cpu = this_cpu();
  cpu.need_resched = 0;
  Thread* previous = cpu.current;
  Thread* next = pick_next(cpu);
  if (next == previous) return;

  previous->stolen = cpu.stolen;
  previous->switched_out = read_tsc();
  cpu.current = next;
  cpu.kernel_stack = next->kernel_stack;
  cpu.tss.rsp0 = next->kernel_stack;
  if (next->page_table != previous->page_table) write_cr3(next->page_table);
  switch_to(&previous->rsp, next->rsp);
  // Back in `previous`: the time away is not its own.
  cpu.stolen = previous->stolen + (read_tsc() - previous->switched_out);
}

extern "C" void yield_cpu() {
  disable_interrupts();
  schedule();
  enable_interrupts();
}

// From the end of an interrupt at depth 0, on the interrupted thread's stack.
extern "C" void preempt() { schedule(); }

void start_scheduler() {
  Cpu& cpu = this_cpu();
  static u64 boot_rsp[kMaxCpus];
  cpu.idle = make_thread(idle_loop, nullptr);
  cpu.current = cpu.idle;
  switch_to(&boot_rsp[cpu.id], cpu.idle->rsp);
  __builtin_unreachable();
}
