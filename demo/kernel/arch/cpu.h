#pragma once

#include "core/types.h"

struct Thread;

constexpr u32 kMaxCpus = 16;
constexpr u32 kMaxThreadsPerCpu = 8;
constexpr u32 kMaxFunctions = 272;
constexpr u64 kIrqStackBytes = 16384;

struct [[gnu::packed]] TaskState {
  u32 reserved0;
  u64 rsp0;
  u64 rsp1, rsp2;
  u64 reserved1;
  u64 ist[7];
  u64 reserved2;
  u16 reserved3;
  u16 io_map_base;
};

// How long the same work took before (core/measure.h). Times are TSC ticks for one unit, in
// 65536ths.
struct Pace {
  u64 usual;
  u64 spans;
  u64 uncharged;  // units of work of the spans that teach
};

// Exclusive time per function on one vCPU (core/measure.h).
struct Measurements {
  u64 ticks[kMaxFunctions];
  u64 calls[kMaxFunctions];
  Pace pace[kMaxFunctions];
  u64 spans, disturbed_spans;
};

// One per vCPU, at the GS base while the kernel runs. The first fields are known to the assembly
// (arch/asm.h).
struct Cpu {
  Cpu* self;
  u64 kernel_stack;    // top of the current thread's kernel stack: where a system call begins
  u64 user_rsp;        // scratch of syscall_entry
  u64 irq_stack_slot;  // address of the interrupt stack's top slot
  s32 irq_depth;       // -1: not in an interrupt
  u32 need_resched;

  u32 id;
  Thread* current;
  Thread* idle;
  Thread* threads[kMaxThreadsPerCpu];
  u32 thread_count;
  u32 last_picked;
  u64 last_round;       // units after which processes stop; 0: not decided yet
  volatile u64 stolen;  // core/measure.h
  Measurements measured;
  u64 gdt[7];
  TaskState tss;
};

static_assert(offsetof(Cpu, kernel_stack) == 8);
static_assert(offsetof(Cpu, user_rsp) == 16);
static_assert(offsetof(Cpu, irq_stack_slot) == 24);
static_assert(offsetof(Cpu, irq_depth) == 32);
static_assert(offsetof(Cpu, need_resched) == 36);

INLINE Cpu& this_cpu() {
  Cpu* cpu;
  asm volatile("movq %%gs:0, %0" : "=r"(cpu));
  return *cpu;
}

// Allocates the block and stacks of vCPU `id`.
Cpu* new_cpu(u32 id);

// Makes `cpu` the running processor's own: GDT, TSS, IDT, GS base, system call entry.
void load_cpu(Cpu* cpu);
