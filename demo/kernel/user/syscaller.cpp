// Lives in system calls: 40 parts of a round in the kernel, 10 in ring 3. Has no frame pointers:
// its stacks are told by .eh_frame.
#include "core/spin.h"
#include "user/syscalls.h"

constexpr unsigned long kCalls = 4, kPart = kUnitPart / kCalls;

void encode_header() { spin(5 * kPart); }

void prepare_request() { encode_header(); }

void read_blocks() {
  prepare_request();
  system_call(kSyscallWork, 0, 25 * kPart);
}

void send_packets() {
  prepare_request();
  system_call(kSyscallWork, 1, 15 * kPart);
}

void serve_requests() {
  for (unsigned long i = 0; i < kCalls; ++i) {
    read_blocks();
    send_packets();
  }
}

extern "C" [[noreturn]] void _start() {
  do {
    serve_requests();
    system_call(kSyscallGetpid);
  } while (!system_call(kSyscallYield));
  system_call(kSyscallExit);
  __builtin_unreachable();
}
