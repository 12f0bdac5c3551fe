/* What a kernel adds to sample itself by its timer, all of it. It is written for four architectures;
   a kernel has one, and leaves the others out. Names of the kernel's own begin with `kernel_`. */
#include "../ringside_guest.h"

enum { CPUS = 4, RING_WORDS = 1 << 16 };

/* The kernel's own. */
struct kernel_frame { /* what the interrupt's entry has saved */
  uintptr_t pc, sp, fp, lr; /* lr: x30 or ra; 0 on x86 */
  uint64_t page_table;      /* of the code that was interrupted */
  int from_user;
};
struct kernel_thread {
  uintptr_t stack_low, stack_high;
  uint32_t pid, tid;
  const char *name;
};
extern char kernel_text[];                 /* where its code begins: any symbol that it has */
uint32_t kernel_cpu(void);                 /* from 0 */
struct kernel_thread *kernel_current(void);
uint64_t kernel_page_table(void); /* the register: CR3, satp, TTBR0_EL1 */
int kernel_is_idle(const struct kernel_frame *frame);
int kernel_read_user(uintptr_t address, uintptr_t *word); /* 0 where it cannot; does not fault */
void kernel_write_port(const void *bytes, size_t count);
void kernel_sleep(void);

static uint64_t read_clock(void) {
#if defined(__x86_64__) || defined(__i386__)
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
  uint64_t count;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  uint64_t count;
  __asm__ volatile("rdtime %0" : "=r"(count));
  return count;
#endif
}

/* Static memory is the simplest: page-aligned, so that ringside finds it by its first bytes. */
static _Alignas(4096) char rings[128 + CPUS * (64 + RING_WORDS * 8)];

/* Once, when the clock works. `drained`: a daemon takes the samples out; else ringside reads the rings from outside. */
void kernel_start_sampling(uint64_t clock_hz, int drained) {
  const struct ringside_setup setup = {
      .memory = rings,
      .bytes = sizeof(rings),
      .cpus = CPUS,
      .ring_words = RING_WORDS,
      .mode = drained ? RINGSIDE_DROP : RINGSIDE_OVERWRITE,
      .clock = read_clock,
      .clock_hz = clock_hz,
      .anchor = kernel_text,
      .anchor_name = "kernel_text",
  };
  ringside_start(&setup);
}

static struct ringside_task task_of(const struct kernel_thread *thread, uint64_t page_table) {
  const struct ringside_task task = {page_table, thread->pid, thread->tid, thread->name};
  return task;
}

/* In the timer's handler, on each CPU. */
void kernel_sample(const struct kernel_frame *frame) {
  static uintptr_t frames[CPUS][RINGSIDE_MAX_FRAMES]; /* of the handler, which nothing of its kind interrupts */
  const uint32_t cpu = kernel_cpu();
  if (kernel_is_idle(frame)) {
    ringside_sample(cpu, RINGSIDE_TIMER, 0, 0, 0);
    return;
  }
  const struct kernel_thread *thread = kernel_current();
  const struct ringside_task task = task_of(thread, frame->page_table);
  const struct ringside_registers at = {frame->pc, frame->sp, frame->fp, frame->lr};
  if (frame->from_user) {
    const struct ringside_stack user = ringside_walk(&at, 4096, UINTPTR_MAX / 2, kernel_read_user, frames[cpu]);
    ringside_sample(cpu, RINGSIDE_TIMER, &task, 0, &user);
  } else {
    const struct ringside_stack kernel = ringside_walk(&at, thread->stack_low, thread->stack_high, 0, frames[cpu]);
    ringside_sample(cpu, RINGSIDE_TIMER, &task, &kernel, 0);
  }
}

/* In the allocator, with interrupts off: after an allocation or a move, and before a free. `old` is
   a move's pointer before, else 0. The allocator is the innermost function of the stack, so this
   one is not inlined. */
__attribute__((noinline)) void kernel_note_allocation(enum ringside_operation operation, const char *allocator,
                                                      uintptr_t pointer, uintptr_t old, size_t bytes) {
  static uintptr_t frames[CPUS][RINGSIDE_MAX_FRAMES]; /* of allocations: a sample may come in the middle */
  if (!ringside_is_on()) return;
  const uint32_t cpu = kernel_cpu();
  const struct kernel_thread *thread = kernel_current();
  const struct ringside_task task = task_of(thread, kernel_page_table());
  const struct ringside_stack stack = ringside_walk_callers(thread->stack_low, thread->stack_high, frames[cpu]);
  const struct ringside_allocation what = {.operation = operation,
                                           .unit = RINGSIDE_IN_BYTES,
                                           .allocator = allocator,
                                           .pointer = pointer,
                                           .old = old,
                                           .size = bytes};
  ringside_allocated(cpu, &what, &task, &stack);
}

/* A thread: takes what there is to a port, for `ringside import`. */
void kernel_drain(void) {
  static uint64_t buffer[64 * 1024 / 8];
  for (;;) {
    for (uint32_t cpu = 0; cpu < CPUS; ++cpu) {
      const size_t bytes = ringside_drain(cpu, buffer, sizeof(buffer));
      kernel_write_port(buffer, bytes);
    }
    kernel_sleep();
  }
}
