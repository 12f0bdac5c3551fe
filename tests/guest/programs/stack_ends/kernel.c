// A kernel whose stacks end in every way that small kernels have: see tests/guest/stack_ends_test.py.
// One vCPU runs the threads below in turns, and user code; the other one runs secondary_main().
#include "machine.h"

enum { kBelow = 192 };  // words of the upper of two stacks
enum { kStackWords = 8192 / sizeof(word), kPageWords = 4096 / sizeof(word), kRounds = 60000 };
// As a code segment of user mode looks.
enum { kArgument = 7 };
static const word kFill = (word)0x9999999999999999;
static const word kPoison = (word)0xa5a5a5a5a5a5a5a5;

_Alignas(4096) word boot_stack[kStackWords];
_Alignas(4096) word secondary_stack[kStackWords];
_Alignas(4096) word trap_stack[kStackWords];
// Not to the multiple of a page: a page holds the end of one stack and the beginning of the next.
_Alignas(4096) static word stacks[5][kStackWords];

// The end of one stack's frames, and another one that lies below it in the same page.
_Alignas(4096) static word shared_stacks[kStackWords];

word first_frame_pointer;  // of the thread that start_thread() starts
static word* main_sp;
static word** current;

__attribute__((noinline)) void spin(unsigned rounds) {
  for (volatile word i = 0; i < rounds; ++i) {
  }
}
__attribute__((noinline)) void work(void) {
  spin(kRounds);
  __asm__ volatile("");  // no tail call
}

// Back to kernel_main(), until it is this thread's turn again.
__attribute__((noinline)) static void yield(void) {
  switch_stack(current, main_sp);
  __asm__ volatile("");
}

// A thread's first function never returns, so its return address is never jumped to.
#define THREAD(name) \
  __attribute__((noinline, used)) void name(void) { \
    for (;;) { \
      work(); \
      yield(); \
    } \
  }
THREAD(thread_on_zeros)
THREAD(thread_on_poison)
THREAD(thread_below_registers)
THREAD(thread_under_the_end)
THREAD(thread_with_exit)
THREAD(thread_to_itself)
THREAD(thread_exit)
THREAD(thread_above)
THREAD(thread_below_another)

// A stack's words up to its end are `above`, `words` of them; the lowest is what x86 takes for the
// return address. Elsewhere that is `link`.
struct plan {
  void (*entry)(void);
  word* top;
  unsigned words;
  word above;
  word link;
};

static word* prepare(const struct plan* plan) {
  word* sp = plan->top - plan->words;
  for (word* at = sp; at < plan->top; ++at) *at = plan->above;
  if (HAS_RETURN_SLOT && plan->words != 0) {
    sp[0] = plan->link;
    if (plan->link != kFill) sp[1] = kArgument;
  }
  return sp;
}

void kernel_main(void) {
  const struct plan plans[] = {
      {thread_on_zeros, stacks[0] + kStackWords, 8, 0, 0},
      {thread_on_poison, stacks[1] + kStackWords, 8, kPoison, kPoison},
      // Where entry code has put user code's registers, and a pointer or two of the kernel's own.
      {thread_below_registers, stacks[2] + kStackWords, 32, (word)thread_on_zeros, USER + 0x124},
      // Nothing is mapped behind this one.
      {thread_under_the_end, (word*)LAST_STACK_END, 0, 0, USER + 0x124},
      {thread_with_exit, stacks[3] + kStackWords, 8, kPoison, (word)thread_exit},
      {thread_to_itself, stacks[4] + kStackWords, 8, kPoison, (word)thread_to_itself},
      {thread_above, shared_stacks + kStackWords, 8, 0, 0},
      {thread_below_another, shared_stacks + kStackWords - kBelow, 8, kFill, kFill},
  };
  enum { kThreads = sizeof(plans) / sizeof(plans[0]) };
  word* saved[kThreads];
  machine_start();
  print("stack_ends: ready\n");
  for (unsigned i = 0; i < kThreads; ++i) {
    current = &saved[i];
    first_frame_pointer = plans[i].entry == thread_below_another ? 0 : 0x12345671;
    start_thread(&main_sp, prepare(&plans[i]), plans[i].entry, plans[i].link);
  }
  for (;;) {
    machine_allow_interrupts();
    work();
    for (unsigned i = 0; i < kThreads; ++i) {
      current = &saved[i];
      switch_stack(&main_sp, saved[i]);
    }
#ifdef HAS_USER
    enter_user(&main_sp, USER);
#endif
  }
}

// Entry code jumps here with user code's registers, and with the stack pointer at trap_stack's end.
__attribute__((used)) void trap_from_user(void) {
  word* dead;
  work();
  switch_stack(&dead, main_sp);
}

__attribute__((used)) void secondary_main(void) {
  for (;;) work();
}

// From the timer's entry code (x86).
__attribute__((used)) void on_timer(void) {
  spin(kRounds);
  machine_end_of_interrupt();
}
