#pragma once

#include "arch/cpu.h"

struct Process;

constexpr u64 kThreadStackBytes = 16384;

// A kernel thread, pinned to one vCPU. A process has one.
struct Thread {
  u64 rsp;           // saved by switch_to
  u64 kernel_stack;  // top
  u64 page_table;    // physical
  Process* process;  // null: kernel only
  u64 units;         // finished units of work; the scheduler runs the threads with the fewest
  bool dead;
  u64 switched_out;  // core/measure.h
  u64 stolen;
};

// A thread of the running vCPU that will call entry(argument). It must not return.
Thread* new_thread(void (*entry)(void*), void* argument);
[[noreturn]] void exit_thread();

// Picks the next thread: of those with the fewest units, the next in turn. Interrupts must be off.
extern "C" void schedule();

// Gives the vCPU away and returns when its turn comes.
extern "C" void yield_cpu();

// Becomes the idle thread. The boot stack is never used again.
[[noreturn]] void start_scheduler();
