// A user program that enters the kernel in every way, each from a place of its own: by page faults
// in touch_pages(), by system calls in drop_pages() and read_zeros(), and by interrupts anywhere.
// Built for amd64 and i386, with call-frame information and without frame pointers, by
// joined_test.py.
#include "freestanding.h"

namespace {

// arch/x86/entry/syscalls/syscall_{64,32}.tbl of Linux 6.1.
#ifdef __x86_64__
constexpr Word kRead = 0, kAdvise = 28;
#else
constexpr Word kRead = 3, kAdvise = 219;
#endif
constexpr Word kDontNeed = 4;  // MADV_DONTNEED: the next access to a page is a fault
constexpr Word kPage = 4096, kPages = 64;

alignas(kPage) char memory[kPages * kPage];
char zeros[4 * kPage];

}  // namespace

// Nothing is a tail call, and nothing is inlined: the calls in the source are the frames on the
// stack.
#define FUNCTION extern "C" [[gnu::noinline]] void
#define KEEP_FRAME asm volatile("" : : : "memory")

FUNCTION touch_pages(Word seed) {
  for (Word at = 0; at < kPages; ++at) {
    static_cast<volatile char*>(memory)[at * kPage] = static_cast<char>(seed + at);
  }
  KEEP_FRAME;
}

FUNCTION drop_pages() {
  system_call(kAdvise, reinterpret_cast<Word>(memory), sizeof(memory), kDontNeed);
  KEEP_FRAME;
}

FUNCTION use_memory(Word seed) {
  touch_pages(seed);
  drop_pages();
  KEEP_FRAME;
}

FUNCTION read_zeros(Word file) {
  system_call(kRead, file, reinterpret_cast<Word>(zeros), sizeof(zeros));
  KEEP_FRAME;
}

FUNCTION use_files(Word file) {
  for (int i = 0; i < 4; ++i) read_zeros(file);
  KEEP_FRAME;
}

// A process is known once it was seen to run its own code.
FUNCTION count(Word turns) {
  for (; turns; --turns) KEEP_FRAME;
}

extern "C" [[noreturn]] void run() {
  constexpr Word kHere = static_cast<Word>(-100);  // AT_FDCWD
  const Word file = system_call(kOpen, kHere, reinterpret_cast<Word>("/dev/zero"), 0);
  for (Word round = 0;; ++round) {
    use_memory(round);
    use_files(file);
    count(100'000);
  }
}
