// Lives in system calls: 40 parts of a round in the kernel, 10 in ring 3.
#include "core/spin.h"
#include "user/syscalls.h"

constexpr unsigned long kCalls = 4, kPart = kUnitPart / kCalls;

void prepare_request() { spin(5 * kPart); }

extern "C" [[noreturn]] void _start() {
  do {
    for (unsigned long i = 0; i < kCalls; ++i) {
      prepare_request();
      system_call(kSyscallWork, 0, 25 * kPart);
      prepare_request();
      system_call(kSyscallWork, 1, 15 * kPart);
    }
    system_call(kSyscallGetpid);
  } while (!system_call(kSyscallYield));
  system_call(kSyscallExit);
  __builtin_unreachable();
}
