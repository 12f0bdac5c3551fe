// A kernel that samples itself into the guest library's rings: see tests/guest/rings/arch_test.py.
// Each CPU works by turns on three chains of calls, 1, 4 and 12 deep, for 50, 30 and 20 % of its
// time by its own clock. A timer interrupts it a thousand times a second, anywhere: in functions
// without a frame, in prologues and epilogues. A sample's task says which chain was worked on.
#include "machine.h"

#define NOINLINE __attribute__((noinline))
#define KEEP(x) __asm__ volatile("" : "+r"(x))

typedef uintptr_t word;

enum { ROUND_MILLISECONDS = 10, ROUNDS_OF_A_REPORT = 8, TURNS = 16 };
enum work { HALF, THIRD, FIFTH, OTHER, WORKS };
static const char* const names[WORKS] = {"half", "third", "fifth", "other"};

_Alignas(4096) char stacks[CPUS][STACK_BYTES];

// The CPU's own, and its timer's.
static struct cpu {
  volatile enum work work;
  volatile uint32_t taken[WORKS];  // samples
  volatile int is_ready;
  int reports;  // the CPU that began
  volatile uint32_t rounds;
} cpus[CPUS];

// A frame address may be its stack's end (RISC-V).
static uint32_t this_cpu(void) {
  return (uint32_t)(((word)__builtin_frame_address(0) - 1 - (word)stacks) / STACK_BYTES);
}

// Functions without calls have no frame: -momit-leaf-frame-pointer.
#define LEAF(name)                      \
  static NOINLINE word name(word x) {   \
    for (word i = 0; i < 5; ++i) {      \
      x += i;                           \
      KEEP(x);                          \
    }                                   \
    return x;                           \
  }
#define CALLER(name, callee)            \
  static NOINLINE word name(word x) {   \
    x = callee(x + 1);                  \
    KEEP(x);                            \
    return x + 1;                       \
  }
// QEMU's time stamp counter gains time where two vCPUs read it very often.
#define WORK(name, callee)                                      \
  static NOINLINE void name(uint64_t until) {                   \
    word x = 0;                                                 \
    do {                                                        \
      for (int turn = 0; turn < TURNS; ++turn) x = callee(x);   \
    } while (read_clock() < until);                             \
    KEEP(x);                                                    \
  }

LEAF(half_1)
WORK(half_work, half_1)

LEAF(third_4)
CALLER(third_3, third_4)
CALLER(third_2, third_3)
CALLER(third_1, third_2)
WORK(third_work, third_1)

LEAF(fifth_12)
CALLER(fifth_11, fifth_12)
CALLER(fifth_10, fifth_11)
CALLER(fifth_9, fifth_10)
CALLER(fifth_8, fifth_9)
CALLER(fifth_7, fifth_8)
CALLER(fifth_6, fifth_7)
CALLER(fifth_5, fifth_6)
CALLER(fifth_4, fifth_5)
CALLER(fifth_3, fifth_4)
CALLER(fifth_2, fifth_3)
CALLER(fifth_1, fifth_2)
WORK(fifth_work, fifth_1)

static NOINLINE void one_round(struct cpu* me) {
  const uint64_t start = read_clock();
  const uint32_t tenth = machine_ticks_of_a_millisecond() * ROUND_MILLISECONDS / 10;
  me->work = HALF;
  half_work(start + 5 * tenth);
  me->work = THIRD;
  third_work(start + 8 * tenth);
  me->work = FIFTH;
  fifth_work(start + 10 * tenth);
  me->work = OTHER;
}

static void put(const char* text) {
  while (*text) machine_write(*text++);
}

static void put_number(uint32_t number) {
  char text[12];
  char* at = text + sizeof(text);
  *--at = 0;
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  put(at);
}

// A line of each CPU, such as "taken: cpu 0 round 99 half 500 third 300 fifth 200 other 3 lost 0".
static NOINLINE void report(void) {
  for (uint32_t cpu = 0; cpu < CPUS; ++cpu) {
    put("taken: cpu ");
    put_number(cpu);
    put(" round ");
    put_number(cpus[cpu].rounds);
    for (enum work work = HALF; work < WORKS; ++work) {
      put(" ");
      put(names[work]);
      put(" ");
      put_number(cpus[cpu].taken[work]);
    }
    put(" lost ");
    put_number((uint32_t)ringside_lost(cpu));
    put("\n");
  }
}

// The time, and how many samples there are until then, and no more: the timer waits.
static NOINLINE void note_round(uint32_t cpu, struct cpu* me) {
  int64_t numbers[2 + WORKS] = {++me->rounds};
  interrupts_off();
  numbers[1] = (int64_t)machine_nanoseconds();
  for (int work = 0; work < WORKS; ++work) numbers[2 + work] = me->taken[work];
  ringside_event(cpu, "round", numbers, 2 + WORKS, 0, 0);
  interrupts_on();
}

void on_timer(const struct ringside_registers* at) {
  static uintptr_t frames[CPUS][RINGSIDE_MAX_FRAMES];
  const uint32_t cpu = this_cpu();
  struct cpu* const me = &cpus[cpu];
  const enum work work = me->work;
  const struct ringside_task task = {0, (uint32_t)work + 1, cpu + 1, names[work]};
  const word low = (word)stacks[cpu];
  const struct ringside_stack stack = ringside_walk(at, low, low + STACK_BYTES, 0, frames[cpu]);
  ringside_sample(cpu, RINGSIDE_TIMER, &task, &stack, 0);
  ++me->taken[work];
  machine_end_of_interrupt();
}

void on_fault(uintptr_t pc) {
  put("ring_kernel: fault at ");
  for (int shift = (int)sizeof(pc) * 8 - 4; shift >= 0; shift -= 4)
    machine_write("0123456789abcdef"[pc >> shift & 15]);
  put("\n");
  for (;;) {
  }
}

static NOINLINE void work_on(uint32_t cpu) {
  struct cpu* const me = &cpus[cpu];
  me->work = OTHER;
  machine_start_timer();
  me->is_ready = 1;
  for (;;) {
    one_round(me);
    note_round(cpu, me);
    if (me->reports && me->rounds % ROUNDS_OF_A_REPORT == 0) report();
  }
}

static uint64_t library_clock(void) { return read_clock(); }

void second_main(void) { work_on(this_cpu()); }

void kernel_main(void) {
  char* const rings = machine_start();
  const struct ringside_setup setup = {.memory = rings,
                                       .bytes = RINGS_BYTES,
                                       .cpus = CPUS,
                                       .ring_words = RING_WORDS,
                                       .mode = RINGSIDE_OVERWRITE,
                                       .clock = library_clock,
                                       .clock_hz = machine_clock_hz(),
                                       .anchor = stacks,
                                       .anchor_name = "stacks"};
  if (ringside_start(&setup) != 0) put("ring_kernel: ringside_start() fails\n");
  const uint32_t me = this_cpu();
  machine_start_second();
  while (!cpus[1 - me].is_ready) {
  }
  put("ring_kernel: ready\n");
  cpus[me].reports = 1;
  work_on(me);
}
