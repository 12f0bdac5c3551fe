#pragma once

// The parts of Linux and of the machine that programs without a C library need, on all four
// architectures.

using Word = unsigned long;

// Numbers of Linux 6.1, arch/x86/entry/syscalls/syscall_{64,32}.tbl and
// include/uapi/asm-generic/unistd.h.
#if defined(__x86_64__)
constexpr Word kOpen = 257, kWrite = 1, kClone = 56, kMoveMapping = 25;
constexpr Word kExecute = 59, kExit = 60, kWait = 61;
inline Word system_call(Word number, Word a, Word b, Word c, Word d = 0, Word e = 0) {
  register Word r10 asm("r10") = d;
  register Word r8 asm("r8") = e;
  Word result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}
inline Word counter() {
  Word low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return high << 32 | low;
}
#elif defined(__i386__)
constexpr Word kOpen = 295, kWrite = 4, kClone = 120, kMoveMapping = 163;
constexpr Word kExecute = 11, kExit = 1, kWait = 114;
inline Word system_call(Word number, Word a, Word b, Word c, Word d = 0, Word e = 0) {
  Word result = number;
  asm volatile("int $0x80" : "+a"(result) : "b"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory");
  return result;
}
inline Word counter() {
  Word low;
  asm volatile("rdtsc" : "=a"(low) : : "edx");
  return low;
}
#elif defined(__aarch64__)
constexpr Word kOpen = 56, kWrite = 64, kClone = 220, kMoveMapping = 216;
constexpr Word kExecute = 221, kExit = 93, kWait = 260;
inline Word system_call(Word number, Word a, Word b, Word c, Word d = 0, Word e = 0) {
  register Word x0 asm("x0") = a;
  register Word x1 asm("x1") = b;
  register Word x2 asm("x2") = c;
  register Word x3 asm("x3") = d;
  register Word x4 asm("x4") = e;
  register Word x8 asm("x8") = number;
  asm volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8) : "memory");
  return x0;
}
inline Word counter() {
  Word ticks;
  asm volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#elif defined(__riscv)
constexpr Word kOpen = 56, kWrite = 64, kClone = 220, kMoveMapping = 216;
constexpr Word kExecute = 221, kExit = 93, kWait = 260;
inline Word system_call(Word number, Word a, Word b, Word c, Word d = 0, Word e = 0) {
  register Word a0 asm("a0") = a;
  register Word a1 asm("a1") = b;
  register Word a2 asm("a2") = c;
  register Word a3 asm("a3") = d;
  register Word a4 asm("a4") = e;
  register Word a7 asm("a7") = number;
  asm volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a7) : "memory");
  return a0;
}
inline Word counter() {
  Word ticks;
  asm volatile("rdtime %0" : "=r"(ticks));
  return ticks;
}
#endif

// The kernel starts a program with an aligned stack and no return address: a call leaves the stack
// as C++ expects it.
extern "C" [[noreturn]] void run();
#ifdef __aarch64__
asm(".globl _start; _start: bl run");
#else
asm(".globl _start; _start: call run");
#endif
