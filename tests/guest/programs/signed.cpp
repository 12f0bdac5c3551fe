// Functions of arm64 that sign their return addresses (-mbranch-protection=pac-ret+leaf) call each
// other: `run` calls `outer` calls `middle` calls `leaf`, or `write_nothing`, which is in the
// kernel most of its time. Says on /dev/console whether the processor has signed a return address:
//   signed: 0xBITS
// are the upper 16 bits of one that lies on the stack. Built by signed_test.py.
#include "freestanding.h"

namespace {

constexpr Word kTurns = 20'000;
constexpr Word kHere = static_cast<Word>(-100), kWriteOnly = 1;  // AT_FDCWD, O_WRONLY

Word console;
Word upper_bits;

}  // namespace

extern "C" {

[[gnu::noinline]] void leaf(Word turns) {
  Word value = turns;
  for (; turns; --turns) {
    value += turns;
    asm volatile("" : "+r"(value));
  }
}

[[gnu::noinline]] void write_nothing() {
  system_call(kWrite, console, 0, 0);
  asm volatile("");
}

[[gnu::noinline]] void middle(Word turns) {
  // A frame record: the caller's frame pointer, the return address.
  upper_bits = static_cast<const Word*>(__builtin_frame_address(0))[1] >> 48;
  leaf(turns);
  for (int i = 0; i < 20; ++i) write_nothing();
  asm volatile("");
}

[[gnu::noinline]] void outer(Word turns) {
  middle(turns);
  asm volatile("");
}

[[noreturn]] void run() {
  console = system_call(kOpen, kHere, reinterpret_cast<Word>("/dev/console"), kWriteOnly);
  outer(1);
  char line[] = "signed: 0x0000\n";
  for (int i = 0; i < 4; ++i) line[10 + i] = "0123456789abcdef"[upper_bits >> (12 - 4 * i) & 15];
  system_call(kWrite, console, reinterpret_cast<Word>(line), sizeof(line) - 1);
  for (;;) outer(kTurns);
}
}
