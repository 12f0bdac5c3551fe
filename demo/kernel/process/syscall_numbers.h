#pragma once

// Shared with user/syscalls.h.
enum SystemCall : unsigned long {
  kSyscallWork,   // (kind, iterations)
  kSyscallYield,  // ends a unit of work; returns whether it was the last
  kSyscallGetpid,
  kSyscallExit,
  kSystemCalls,
};
