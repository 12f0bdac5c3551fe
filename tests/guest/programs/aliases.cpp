// One page of a program, which two processes run at different addresses: as a library is that each
// loads elsewhere. Built for all four architectures by aliases_test.py.

#include "freestanding.h"

namespace {

constexpr Word kPage = 4096;
constexpr Word kElsewhere = 0x30000000;  // aliases_test.py knows it too
constexpr Word kMayMoveToFixed = 3;      // MREMAP_MAYMOVE | MREMAP_FIXED
constexpr Word kSignalOfChild = 17;      // SIGCHLD

}  // namespace

// A page to itself, for the section is the last of its segment.
extern "C" [[gnu::section("aliased"), gnu::aligned(4096), gnu::noinline]] void turn(Word turns) {
  Word value = turns;
  for (; turns; --turns) {
    value += turns;
    asm volatile("" : "+r"(value));
  }
}

extern "C" [[noreturn]] void run() {
  auto* function = turn;
  if (system_call(kClone, kSignalOfChild, 0, 0) == 0) {
    system_call(kMoveMapping, reinterpret_cast<Word>(turn), kPage, kPage, kMayMoveToFixed,
                kElsewhere);
    function = reinterpret_cast<decltype(function)>(kElsewhere);
  }
  asm volatile("" : "+r"(function));
  for (;;) function(100'000);
}
