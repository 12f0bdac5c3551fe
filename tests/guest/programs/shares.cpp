// A user program of known shares, without a C library: the same loop in three functions, which
// turns 5 : 3 : 2 times. How long each takes is measured first, by the guest's own counter, and
// written to /dev/console:
//   shares: half TICKS third TICKS fifth TICKS
// Built for all four architectures by user_truth_test.py.
#include "freestanding.h"

namespace {

constexpr Word kTurns =
    4000;  // a pass over all three takes 0.1 to 1 ms under TCG: shorter than a sampling interval
constexpr int kTries = 400;

// Long enough that what surrounds a block (TCG's jump from block to block) hardly counts.
#define FOUR(line) line line line line
#define SAME_LOOP                                               \
  Word value = turns;                                           \
  for (; turns; --turns) {                                      \
    FOUR(FOUR(value += turns; asm volatile("" : "+r"(value));)) \
  }

}  // namespace

extern "C" {

[[gnu::noinline]] void half(Word turns) { SAME_LOOP }
[[gnu::noinline]] void third(Word turns) { SAME_LOOP }
[[gnu::noinline]] void fifth(Word turns) { SAME_LOOP }
}

namespace {

struct Line {
  char text[120];
  Word size = 0;

  void add(const char* words) {
    while (*words) text[size++] = *words++;
  }
  void add(Word number) {
    char digits[20];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while (number /= 10);
    while (count) text[size++] = digits[--count];
  }
};

// The least of many tries: whatever else runs only ever makes it longer.
Word least_time(void (*function)(Word), Word turns) {
  Word least = ~Word{0};
  for (int i = 0; i < kTries; ++i) {
    const Word start = counter();
    function(turns);
    const Word ticks = counter() - start;
    if (ticks < least) least = ticks;
  }
  return least;
}

}  // namespace

extern "C" [[noreturn]] void run() {
  Line line;
  line.add("shares: half ");
  line.add(least_time(half, 5 * kTurns));
  line.add(" third ");
  line.add(least_time(third, 3 * kTurns));
  line.add(" fifth ");
  line.add(least_time(fifth, 2 * kTurns));
  line.add("\n");
  constexpr Word kHere = static_cast<Word>(-100), kWriteOnly = 1;  // AT_FDCWD, O_WRONLY
  const Word console =
      system_call(kOpen, kHere, reinterpret_cast<Word>("/dev/console"), kWriteOnly);
  system_call(kWrite, console, reinterpret_cast<Word>(line.text), line.size);
  for (;;) {
    half(5 * kTurns);
    third(3 * kTurns);
    fifth(2 * kTurns);
  }
}
