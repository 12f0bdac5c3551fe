#include "ringside_guest.h"

#include <stdatomic.h>

/* A kernel links no libgcc, which calls out of line would need: GCC makes them, and clang for Linux. */
#if defined(__aarch64__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("no-outline-atomics"))), apply_to = function)
#elif defined(__aarch64__) && defined(__GNUC__)
#pragma GCC target("no-outline-atomics")
#endif

/* The numbers of `Arch` in src/base/types.h, and where a frame's two words lie from its frame pointer. */
#if defined(__x86_64__)
enum { ARCH = 1, FRAME_OFFSET = 0 };
#elif defined(__i386__)
enum { ARCH = 2, FRAME_OFFSET = 0 };
#elif defined(__aarch64__)
enum { ARCH = 3, FRAME_OFFSET = 0 };
#elif defined(__riscv) && __riscv_xlen == 64
enum { ARCH = 4, FRAME_OFFSET = -2 * (int)sizeof(uintptr_t) };
#else
#error "ringside's guest library supports x86_64, i386, aarch64 and riscv64"
#endif
#if defined(__x86_64__) || defined(__i386__)
enum { HAS_LINK_REGISTER = 0 };
#else
enum { HAS_LINK_REGISTER = 1 };
#endif

/* Everything from here to `struct cpu` is laid out as src/wire/GUEST_RING.md describes. */
#define MAGIC_0 0x45444953474e4952ull /* "RINGSIDE" */
#define MAGIC_1 0x9d1f6a2be07c4358ull
enum {
  VERSION = 1,
  MARK = 0x5352,
  HEAD_WORDS = 3,
  TASK_WORDS = 4,
  NAME_BYTES = 16,
  EVENT_NAME_BYTES = 24,
  MAX_WORDS = HEAD_WORDS + 1 + TASK_WORDS +
              2 * (RINGSIDE_MAX_FRAMES + RINGSIDE_MAX_INTERRUPTIONS * (3 + RINGSIDE_LEAF_WORDS)),
};
enum kind { KIND_INFO = 1, KIND_SAMPLE = 2, KIND_ALLOCATION = 3, KIND_EVENT = 4 };

struct area {
  uint64_t magic[2];
  uint32_t version, check; /* check: of the words from `shape` to `words_at` */
  uint8_t shape[8];        /* architecture, bytes of a pointer, mode, 0 … */
  uint32_t cpus, ring_words;
  uint64_t self, clock_hz, anchor;
  char anchor_name[EVENT_NAME_BYTES];
  uint64_t cpus_at, cpu_bytes, words_at; /* bytes from the area's start */
  _Atomic uint32_t is_on;
  uint32_t reserved[3];
};
_Static_assert(offsetof(struct area, is_on) == 112 && sizeof(struct area) == 128, "GUEST_RING.md");

/* Of a CPU's ring. Counts of words never go back; they wrap with uintptr_t. */
struct cpu {
  _Alignas(8) _Atomic uintptr_t head; /* words that writers have reserved */
  _Alignas(8) _Atomic uintptr_t tail; /* words that were drained */
  _Alignas(8) _Atomic uint32_t begun; /* records, those without room too */
  _Alignas(8) _Atomic uint32_t lost;  /* records without room */
  _Alignas(8) _Atomic uint32_t samples; /* of those begun */
  _Alignas(8) uintptr_t info_at;      /* the tail at the last info of the stream, and what lost was then; */
  uint32_t info_lost, has_info;       /* the drainer's own */
  _Alignas(64) char next[];           /* each CPU's in a cache line of its own */
};
_Static_assert(sizeof(struct cpu) == 64, "GUEST_RING.md");

/* The bytes from the area's start to the first CPU, and from the last CPU to the words. */
enum { CPUS_AT = 128, LARGEST_RING_WORDS = 1 << 28, MOST_CPUS = 4096 };

static struct area *_Atomic the_area;
static uint64_t (*the_clock)(void);

static struct cpu *cpu_at(struct area *area, uint32_t number) {
  return (struct cpu *)((char *)area + CPUS_AT) + number;
}

static volatile uint64_t *words_of(struct area *area, uint32_t number) {
  return (volatile uint64_t *)((char *)area + area->words_at) + (size_t)number * area->ring_words;
}

/* The header is read as words: char may alias anything. */
static uint64_t word_at(const void *address) {
  const unsigned char *bytes = address;
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | bytes[i];
  return word;
}

/* FNV-1a over units of 32 bits. */
static uint32_t mixed(uint32_t check, uint64_t word) {
  check = (check ^ (uint32_t)word) * 0x01000193u;
  return (check ^ (uint32_t)(word >> 32)) * 0x01000193u;
}
#define FIRST_CHECK 0x811c9dc5u

static void copy_name(char *to, const char *name, size_t bytes) {
  size_t i = 0;
  for (; name && i < bytes && name[i]; ++i) to[i] = name[i];
  for (; i < bytes; ++i) to[i] = 0;
}

size_t ringside_bytes(uint32_t cpus, uint32_t ring_words) {
  const int is_power = ring_words && !(ring_words & (ring_words - 1));
  if (!cpus || cpus > MOST_CPUS || !is_power || ring_words < RINGSIDE_LEAST_WORDS || ring_words > LARGEST_RING_WORDS)
    return 0;
  const uint64_t bytes = CPUS_AT + (uint64_t)cpus * (sizeof(struct cpu) + (uint64_t)ring_words * 8);
  return bytes > SIZE_MAX ? 0 : (size_t)bytes;
}

int ringside_start(const struct ringside_setup *setup) {
  const size_t bytes = ringside_bytes(setup->cpus, setup->ring_words);
  const int is_aligned = ((uintptr_t)setup->memory & 63) == 0;
  if (!bytes || bytes > setup->bytes || !setup->memory || !is_aligned || !setup->clock) return -1;
  if (setup->mode != RINGSIDE_OVERWRITE && setup->mode != RINGSIDE_DROP) return -1;
  volatile uint64_t *memory = setup->memory;
  for (size_t i = 0; i < bytes / 8; ++i) memory[i] = 0;
  struct area *area = setup->memory;
  area->version = VERSION;
  area->shape[0] = ARCH;
  area->shape[1] = sizeof(uintptr_t);
  area->shape[2] = (uint8_t)setup->mode;
  area->cpus = setup->cpus;
  area->ring_words = setup->ring_words;
  area->self = (uintptr_t)area;
  area->clock_hz = setup->clock_hz;
  area->anchor = (uintptr_t)setup->anchor;
  copy_name(area->anchor_name, setup->anchor_name, sizeof(area->anchor_name));
  area->cpus_at = CPUS_AT;
  area->cpu_bytes = sizeof(struct cpu);
  area->words_at = CPUS_AT + setup->cpus * sizeof(struct cpu);
  uint32_t check = FIRST_CHECK;
  for (size_t at = offsetof(struct area, shape); at < offsetof(struct area, is_on); at += 8)
    check = mixed(check, word_at((const char *)area + at));
  area->check = check;
  area->is_on = 1;
  area->magic[1] = MAGIC_1;
  atomic_thread_fence(memory_order_release);
  area->magic[0] = MAGIC_0;
  the_clock = setup->clock;
  atomic_store_explicit(&the_area, area, memory_order_release);
  return 0;
}

int ringside_switch(int on) {
  struct area *area = atomic_load_explicit(&the_area, memory_order_acquire);
  return area ? (int)atomic_exchange_explicit(&area->is_on, on != 0, memory_order_relaxed) : 0;
}

int ringside_is_on(void) {
  struct area *area = atomic_load_explicit(&the_area, memory_order_acquire);
  return area ? (int)atomic_load_explicit(&area->is_on, memory_order_relaxed) : 0;
}

void ringside_note_interruption(struct ringside_stack *stack, const struct ringside_registers *at, uintptr_t low,
                                uintptr_t high, int (*read)(uintptr_t, uintptr_t *)) {
  if (stack->interruption_count >= RINGSIDE_MAX_INTERRUPTIONS) return;
  struct ringside_interruption *note = &stack->interruptions[stack->interruption_count++];
  const uintptr_t size = sizeof(uintptr_t);
  note->frame = stack->count;
  note->count = 0;
  note->sp = at->sp;
  note->fp = at->fp;
  if (HAS_LINK_REGISTER) note->words[note->count++] = at->lr;
  for (uintptr_t word = at->sp; !HAS_LINK_REGISTER && note->count < RINGSIDE_LEAF_WORDS; word += size) {
    if (word % size || word < low || high < size || word > high - size) break;
    uintptr_t *to = &note->words[note->count];
    if (!read) *to = *(volatile uintptr_t *)word;
    else if (!read(word, to)) break;
    ++note->count;
  }
}

static struct ringside_stack empty_stack(uintptr_t *frames) {
  struct ringside_stack stack;
  stack.frames = frames;
  stack.count = 0;
  stack.stop = RINGSIDE_END;
  stack.interruption_count = 0;
  return stack;
}

/* Goes on from a frame pointer. Returns why it has ended. */
static enum ringside_stop follow(uintptr_t fp, uintptr_t low, uintptr_t high, int (*read)(uintptr_t, uintptr_t *),
                                 uintptr_t *frames, uint32_t *count) {
  const uintptr_t size = sizeof(uintptr_t);
  while (fp) {
    const uintptr_t frame = fp + FRAME_OFFSET;
    if (frame % size || frame < low || high < 2 * size || frame > high - 2 * size) return RINGSIDE_UNREADABLE;
    uintptr_t link[2];
    if (!read) {
      link[0] = ((volatile uintptr_t *)frame)[0];
      link[1] = ((volatile uintptr_t *)frame)[1];
    } else if (!read(frame, &link[0]) || !read(frame + size, &link[1])) {
      return RINGSIDE_UNREADABLE;
    }
    if (!link[1]) return RINGSIDE_END;
    if (*count == RINGSIDE_MAX_FRAMES) return RINGSIDE_TOO_DEEP;
    frames[(*count)++] = link[1];
    if (link[0] && link[0] <= fp) return RINGSIDE_UNREADABLE;
    fp = link[0];
  }
  return RINGSIDE_END;
}

struct ringside_stack ringside_walk(const struct ringside_registers *at, uintptr_t low, uintptr_t high,
                                    int (*read)(uintptr_t, uintptr_t *), uintptr_t *frames) {
  struct ringside_stack stack = empty_stack(frames);
  ringside_note_interruption(&stack, at, low, high, read);
  frames[stack.count++] = at->pc;
  stack.stop = follow(at->fp, low, high, read, frames, &stack.count);
  return stack;
}

struct ringside_stack ringside_walk_callers(uintptr_t low, uintptr_t high, uintptr_t *frames) {
  struct ringside_stack stack = empty_stack(frames);
  const uintptr_t own = (uintptr_t)__builtin_frame_address(0);
  const uintptr_t callers = *(volatile uintptr_t *)(own + FRAME_OFFSET);
  stack.stop = follow(callers, low, high, 0, frames, &stack.count);
  return stack;
}

/* A record that is being written. */
struct writer {
  volatile uint64_t *words;
  uintptr_t at, next;
  uint32_t mask, check, sequence;
  uint64_t head;
};

static void put(struct writer *to, uint64_t word) {
  to->words[to->next++ & to->mask] = word;
  to->check = mixed(to->check, word);
}

/* No word is shifted by a number that varies: 32-bit machines may call libgcc for that. */
static void put_name(struct writer *to, const char *name, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word = 0;
    for (size_t n = 0; n < 8; ++n) {
      const uint8_t byte = name && *name ? (uint8_t)*name++ : 0;
      word = word >> 8 | (uint64_t)byte << 56;
    }
    put(to, word);
  }
}

static void put_words(struct writer *to, const uintptr_t *words, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) put(to, words[i]);
}

static void put_task(struct writer *to, const struct ringside_task *task) {
  put(to, task ? task->address_space : 0);
  put(to, task ? task->pid | (uint64_t)task->tid << 32 : 0);
  put_name(to, task ? task->name : 0, NAME_BYTES);
}

/* Reserves words in a CPU's ring, of which `body` come behind the record's head. Returns 0 where there is no room, or
   recording is off. The time is that of now. */
static int begin(struct writer *to, uint32_t cpu, enum kind kind, uint32_t body) {
  struct area *area = atomic_load_explicit(&the_area, memory_order_acquire);
  if (!area || cpu >= area->cpus || !atomic_load_explicit(&area->is_on, memory_order_relaxed)) return 0;
  const uint64_t time = the_clock();
  struct cpu *ring = cpu_at(area, cpu);
  const uint32_t words = HEAD_WORDS + body;
  to->sequence = atomic_fetch_add_explicit(&ring->begun, 1, memory_order_relaxed);
  if (kind == KIND_SAMPLE) atomic_fetch_add_explicit(&ring->samples, 1, memory_order_relaxed);
  if (area->shape[2] == RINGSIDE_OVERWRITE) {
    to->at = atomic_fetch_add_explicit(&ring->head, words, memory_order_relaxed);
  } else {
    to->at = atomic_load_explicit(&ring->head, memory_order_relaxed);
    for (;;) {
      const uintptr_t used = to->at - atomic_load_explicit(&ring->tail, memory_order_acquire);
      if (used + words <= area->ring_words) {
        if (atomic_compare_exchange_weak_explicit(&ring->head, &to->at, to->at + words, memory_order_relaxed,
                                                  memory_order_relaxed))
          break;
        continue;
      }
      /* Others may have written, and been drained, since the head was read. */
      const uintptr_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
      if (head == to->at) {
        atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
        return 0;
      }
      to->at = head;
    }
  }
  /* A reader outside that sees a word of this record sees the head that it belongs to. */
  atomic_thread_fence(memory_order_release);
  to->words = words_of(area, cpu);
  to->mask = area->ring_words - 1;
  to->head = MARK | (uint64_t)words << 16 | (uint64_t)kind << 32 | (uint64_t)cpu << 48;
  to->check = mixed(mixed(FIRST_CHECK, to->head), to->sequence);
  to->next = to->at + 2;
  put(to, time);
  return 1;
}

/* On 32-bit machines a word is two stores: the half with the mark is the last. */
static void put_head(volatile uint64_t *word, uint64_t head) {
  if (sizeof(uintptr_t) < 8) {
    *word = head & ~(uint64_t)0xffffffff;
    atomic_thread_fence(memory_order_release);
  }
  *word = head;
}

/* The record is there from now on: its first word comes last. */
static void end(struct writer *to) {
  to->words[(to->at + 1) & to->mask] = to->sequence | (uint64_t)to->check << 32;
  atomic_thread_fence(memory_order_release);
  put_head(&to->words[to->at & to->mask], to->head);
}

static uint32_t count_of(const struct ringside_stack *stack) {
  if (!stack || !stack->frames) return 0;
  return stack->count < RINGSIDE_MAX_FRAMES ? stack->count : RINGSIDE_MAX_FRAMES;
}

static uint64_t stop_of(const struct ringside_stack *stack) {
  if (!stack) return RINGSIDE_END;
  return stack->count > RINGSIDE_MAX_FRAMES ? RINGSIDE_TOO_DEEP : (uint8_t)stack->stop;
}

static uint32_t noted(const struct ringside_stack *stack) {
  if (!count_of(stack)) return 0;
  return stack->interruption_count < RINGSIDE_MAX_INTERRUPTIONS ? stack->interruption_count : RINGSIDE_MAX_INTERRUPTIONS;
}

static uint32_t words_of_note(const struct ringside_interruption *note) {
  return note->count < RINGSIDE_LEAF_WORDS ? note->count : RINGSIDE_LEAF_WORDS;
}

/* Words of a stack in a record. */
static uint32_t size_of(const struct ringside_stack *stack) {
  uint32_t size = count_of(stack);
  for (uint32_t i = 0; i < noted(stack); ++i) size += 3 + words_of_note(&stack->interruptions[i]);
  return size;
}

static void put_stack(struct writer *to, const struct ringside_stack *stack) {
  for (uint32_t i = 0; i < noted(stack); ++i) {
    const struct ringside_interruption *note = &stack->interruptions[i];
    put(to, note->frame | (uint64_t)words_of_note(note) << 32);
    put(to, note->sp);
    put(to, note->fp);
    put_words(to, note->words, words_of_note(note));
  }
  if (count_of(stack)) put_words(to, stack->frames, count_of(stack));
}

/* What each kind has in its first word behind the head. */
static uint64_t shape(uint64_t a, uint64_t b, const struct ringside_stack *first, const struct ringside_stack *second) {
  return a | b << 8 | stop_of(first) << 16 | stop_of(second) << 24 | (uint64_t)count_of(first) << 32 |
         (uint64_t)count_of(second) << 40 | (uint64_t)noted(first) << 48 | (uint64_t)noted(second) << 56;
}

void ringside_sample(uint32_t cpu, enum ringside_source source, const struct ringside_task *task,
                     const struct ringside_stack *kernel, const struct ringside_stack *user) {
  struct writer to;
  if (!begin(&to, cpu, KIND_SAMPLE, 1 + TASK_WORDS + size_of(kernel) + size_of(user))) return;
  put(&to, shape(source, 0, kernel, user));
  put_task(&to, task);
  put_stack(&to, kernel);
  put_stack(&to, user);
  end(&to);
}

void ringside_allocated(uint32_t cpu, const struct ringside_allocation *what, const struct ringside_task *task,
                        const struct ringside_stack *stack) {
  struct writer to;
  if (!begin(&to, cpu, KIND_ALLOCATION, 1 + TASK_WORDS + NAME_BYTES / 8 + 3 + size_of(stack))) return;
  put(&to, shape(what->operation, what->unit, stack, 0));
  put_task(&to, task);
  put_name(&to, what->allocator, NAME_BYTES);
  put(&to, what->pointer);
  put(&to, what->old);
  put(&to, what->size);
  put_stack(&to, stack);
  end(&to);
}

void ringside_event(uint32_t cpu, const char *name, const int64_t *numbers, uint32_t count,
                    const struct ringside_task *task, const struct ringside_stack *stack) {
  struct writer to;
  if (!numbers) count = 0;
  if (count > RINGSIDE_MAX_NUMBERS) count = RINGSIDE_MAX_NUMBERS;
  if (!begin(&to, cpu, KIND_EVENT, 1 + TASK_WORDS + EVENT_NAME_BYTES / 8 + count + size_of(stack))) return;
  put(&to, shape(count, 0, stack, 0));
  put_task(&to, task);
  put_name(&to, name, EVENT_NAME_BYTES);
  for (uint32_t i = 0; i < count; ++i) put(&to, (uint64_t)numbers[i]);
  put_stack(&to, stack);
  end(&to);
}

uint64_t ringside_lost(uint32_t cpu) {
  struct area *area = atomic_load_explicit(&the_area, memory_order_acquire);
  return area && cpu < area->cpus ? atomic_load_explicit(&cpu_at(area, cpu)->lost, memory_order_relaxed) : 0;
}

/* What a reader of the stream needs, again and again, for it may come late or lose bytes. Of no ring: its sequence is how
   many records were begun so far. */
enum { INFO_WORDS = HEAD_WORDS + 9, WORDS_BETWEEN_INFOS = 4096 };

static uint64_t *write_info(uint64_t *out, struct area *area, struct cpu *ring, uint32_t cpu) {
  struct writer to = {.words = out, .mask = ~(uint32_t)0, .next = 2};
  to.sequence = atomic_load_explicit(&ring->begun, memory_order_relaxed);
  to.head = MARK | (uint64_t)INFO_WORDS << 16 | (uint64_t)KIND_INFO << 32 | (uint64_t)cpu << 48;
  to.check = mixed(mixed(FIRST_CHECK, to.head), to.sequence);
  put(&to, the_clock());
  put(&to, word_at(area->shape));
  put(&to, area->version | (uint64_t)area->cpus << 32);
  put(&to, area->self);
  put(&to, area->clock_hz);
  put(&to, area->anchor);
  put_name(&to, area->anchor_name, EVENT_NAME_BYTES);
  put(&to, atomic_load_explicit(&ring->lost, memory_order_relaxed) |
               (uint64_t)atomic_load_explicit(&ring->samples, memory_order_relaxed) << 32);
  end(&to);
  return out + INFO_WORDS;
}

size_t ringside_drain(uint32_t cpu, void *destination, size_t bytes) {
  struct area *area = atomic_load_explicit(&the_area, memory_order_acquire);
  if (!area || cpu >= area->cpus || area->shape[2] != RINGSIDE_DROP || bytes < RINGSIDE_LEAST_BUFFER) return 0;
  struct cpu *ring = cpu_at(area, cpu);
  volatile uint64_t *words = words_of(area, cpu);
  const uint32_t mask = area->ring_words - 1;
  uintptr_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  uint64_t *out = destination;
  uint64_t *const out_end = out + bytes / 8;
  const uint32_t lost = atomic_load_explicit(&ring->lost, memory_order_relaxed);
  if (!ring->has_info || tail - ring->info_at >= WORDS_BETWEEN_INFOS || lost != ring->info_lost) {
    out = write_info(out, area, ring, cpu);
    ring->has_info = 1;
    ring->info_at = tail;
    ring->info_lost = lost;
  }
  for (;;) {
    const uint64_t head = words[tail & mask]; /* 0 until the record is whole: words that were drained are 0 */
    atomic_thread_fence(memory_order_acquire);
    const uint32_t count = (head >> 16) & 0xffff;
    if ((head & 0xffff) != MARK || count < HEAD_WORDS || count > MAX_WORDS || out_end - out < (ptrdiff_t)count) break;
    for (uint32_t i = 0; i < count; ++i) {
      *out++ = words[(tail + i) & mask];
      words[(tail + i) & mask] = 0;
    }
    tail += count;
    atomic_store_explicit(&ring->tail, tail, memory_order_release);
  }
  return (size_t)((char *)out - (char *)destination);
}

void ringside_describe_process(void *page, const struct ringside_process *process) {
  volatile uint64_t *word = page;
  word[0] = process->pid;
  word[1] = process->image_base;
  word[2] = process->image_bytes;
  word[3] = process->program_headers;
  word[4] = process->eh_frame;
  word[5] = process->eh_frame_bytes;
  word[6] = process->text;
  word[7] = process->text_bytes;
}
#if defined(__aarch64__) && defined(__clang__)
#pragma clang attribute pop
#endif
