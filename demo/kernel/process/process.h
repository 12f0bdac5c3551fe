#pragma once

#include "core/measure.h"
#include "core/thread.h"

struct Program {
  const char* name;
  const u8* begin;
  const u8* end;
};
extern const Program compute_program, syscaller_program;

struct Process {
  u64 pid;
  const char* name;
  u64 entry;
  u64 ticks;          // own time in user and kernel mode
  Moment user_since;  // when it last went to ring 3
};

// A process of the running vCPU, in an address space of its own.
void start_process(const Program& program);

// Charges own time of the current process, to the vCPU's function and to the process.
INLINE void account_process(u32 function, u64 ticks) {
  account(function, ticks);
  this_cpu().current->process->ticks += ticks;
}
