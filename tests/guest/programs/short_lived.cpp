// Starts two programs at a time, over and over: for short_lived_test.py, which calls them so.
#include "freestanding.h"

namespace {

constexpr Word kSignalOfChild = 17;  // SIGCHLD

void start(const char* path) {
  if (system_call(kClone, kSignalOfChild, 0, 0) != 0) return;
  const char* const arguments[] = {path, nullptr};
  system_call(kExecute, reinterpret_cast<Word>(path), reinterpret_cast<Word>(arguments), 0);
  for (;;) system_call(kExit, 1, 0, 0);
}

}  // namespace

extern "C" [[noreturn]] void run() {
  for (;;) {
    start("/workload/apple");
    start("/workload/pear");
    for (int child = 0; child < 2; ++child) system_call(kWait, static_cast<Word>(-1), 0, 0);
  }
}
