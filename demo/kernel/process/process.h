#pragma once

#include "core/measure.h"
#include "core/thread.h"
#include "process/syscall_numbers.h"

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
  u64 ticks;                // own time in user and kernel mode
  Moment user_since;        // when it last went to ring 3
  Pace pace[kSystemCalls];  // of ring 3, by the system call that ended it: our programs do the same
                            // before each
};
