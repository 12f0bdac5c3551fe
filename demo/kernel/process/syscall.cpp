#include "core/panic.h"
#include "core/steady_clock.h"
#include "core/steady_state.h"
#include "process/process.h"
#include "process/syscall_numbers.h"
#include "workloads/user_functions.h"

namespace {

// Processes stop after the same number of units: the largest that any of this vCPU has when time is
// up, plus one.
INLINE bool was_last_round(Cpu& cpu) {
  if (!cpu.last_round && time_is_up()) {
    for (u32 i = 0; i < cpu.thread_count; ++i) {
      if (cpu.threads[i]->units > cpu.last_round) cpu.last_round = cpu.threads[i]->units;
    }
  }
  return cpu.last_round && cpu.current->units >= cpu.last_round;
}

}  // namespace

extern "C" u64 sys_yield() {
  Cpu& cpu = this_cpu();
  ++cpu.current->units;
  yield_cpu();
  return was_last_round(cpu);
}

extern "C" u64 sys_getpid() { return this_cpu().current->process->pid; }

// Called by syscall_entry with interrupts on.
extern "C" u64 syscall_dispatch(u64 first, u64 second, u64 number) {
  Process& process = *this_cpu().current->process;
  if (number >= kSystemCalls) panic("pid %u: no system call %u", process.pid, number);
  const u64 ticks = undisturbed(process.pace[number], own_time(process.user_since, moment()), 1);
  account(kUserFunction, ticks);
  process.ticks += ticks;
  u64 result = 0;
  switch (number) {
    case kSyscallWork:
      sys_work(first, second);
      break;
    case kSyscallYield:
      result = sys_yield();
      break;
    case kSyscallGetpid:
      result = sys_getpid();
      break;
    case kSyscallExit:
      leave_steady_state();
  }
  process.user_since = moment();
  return result;
}
