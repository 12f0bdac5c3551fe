/* ringside's guest library: a kernel samples itself, traces its allocations and reports events of
   its own.

   Records go into rings, one for each CPU. ringside reads the rings out of the guest's memory while
   the guest runs, or the kernel drains them to a serial port, a disk or a file. GUEST_RING.md in
   src/wire/ has the layout of both.

   Freestanding C11: no libc, no allocation, no floating point, no thread-local storage, no locks. A
   writer never waits. It may interrupt another writer of its CPU at any instruction, as an NMI
   does, and may be interrupted or moved to another CPU in the middle. README.md beside this file
   shows what to call from where. */
#ifndef RINGSIDE_GUEST_H
#define RINGSIDE_GUEST_H

#if defined(__KERNEL__) && defined(KBUILD_MODNAME) /* in Linux, which has its own */
#include <linux/limits.h>
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  RINGSIDE_MAX_FRAMES = 128, /* of the kernel's part of a stack, and of the user's; more are cut */
  RINGSIDE_LEAST_WORDS = 1024,    /* of a ring */
  RINGSIDE_LEAST_BUFFER = 4096,   /* bytes, for ringside_drain() */
  RINGSIDE_MAX_NUMBERS = 6,       /* of an event */
  RINGSIDE_LEAF_WORDS = 4,        /* of the stack where code was interrupted */
  RINGSIDE_MAX_INTERRUPTIONS = 4, /* in a stack: handlers that others have interrupted */
};

/* What a full ring does. */
enum ringside_mode {
  RINGSIDE_OVERWRITE = 0, /* the oldest records go: for a reader outside, who takes nothing out */
  RINGSIDE_DROP =
      1, /* new records are left out and counted, until ringside_drain() has made room */
};

/* Describes the memory of the rings. All of it is the caller's and stays as it is while rings are
 * in use. */
struct ringside_setup {
  void* memory;        /* 64-byte aligned; page-aligned if ringside is to read it from outside */
  size_t bytes;        /* of it; ringside_bytes() returns how many are needed */
  uint32_t cpus;       /* each has a ring */
  uint32_t ring_words; /* of 8 bytes; a power of two, RINGSIDE_LEAST_WORDS or more */
  enum ringside_mode mode;
  uint64_t (*clock)(void); /* a counter of one rate on all CPUs, which may be read in an NMI */
  uint64_t clock_hz;       /* its rate, 0 where the kernel does not know it */
  const void* anchor;      /* a function or variable that ringside finds in the kernel's symbols by
                              `anchor_name`; */
  const char* anchor_name; /* it shows where the kernel was loaded. Both may be null for a kernel
                              that does not move */
};

/* Returns the bytes that the rings need, 0 where cpus or ring_words are out of range. */
size_t ringside_bytes(uint32_t cpus, uint32_t ring_words);

/* Makes the rings and switches recording on. Call it once, when memory and the clock work. Returns
   0, or -1 where the set-up is wrong; then nothing is recorded, as before the call. */
int ringside_start(const struct ringside_setup* setup);

/* Switches recording on or off, from any CPU and context. Returns what it was. */
int ringside_switch(int on);
int ringside_is_on(void);

/* Who runs. A null pointer to one means: not known, or nobody. */
struct ringside_task {
  uint64_t address_space; /* the register of the page tables that the code ran on (CR3, satp,
                             TTBR0_EL1); 0 where there is none */
  uint32_t pid, tid;
  const char* name; /* ended by 0; 16 bytes are kept; may be null */
};

/* Why a stack ends. The numbers are those of recordings. */
enum ringside_stop {
  RINGSIDE_END = 0,        /* at its outermost caller */
  RINGSIDE_USER_MODE = 1,  /* where user code entered the kernel */
  RINGSIDE_UNREADABLE = 5, /* at a frame pointer that leads off the stack */
  RINGSIDE_NO_RULE = 6,    /* the kernel's unwinder could not go on */
  RINGSIDE_TOO_DEEP = 9,   /* at RINGSIDE_MAX_FRAMES */
};

/* Code that was interrupted before it has made its frame, or after it has given it up, has a caller
   that frame pointers miss. ringside finds that caller by the code at the pc, in a few words of the
   stack or in the link register. */
struct ringside_interruption {
  uint32_t frame;   /* of the stack, from 0: its pc is where the code was interrupted */
  uint32_t count;   /* of words */
  uintptr_t sp, fp; /* there */
  uintptr_t words[RINGSIDE_LEAF_WORDS]; /* x86: the words from sp up; else the link register */
};

/* A stack: the pc, then return addresses from the innermost to the outermost. `frames` may be null
 * if count is 0. */
struct ringside_stack {
  const uintptr_t* frames;
  uint32_t count;
  enum ringside_stop stop;
  uint32_t interruption_count; /* of ringside_note_interruption() */
  struct ringside_interruption interruptions[RINGSIDE_MAX_INTERRUPTIONS];
};

struct ringside_registers {
  uintptr_t pc, sp, fp; /* fp: rbp, ebp, x29, s0 */
  uintptr_t lr;         /* x30, ra; 0 on x86 */
};

/* Walks frame pointers from `at`. Each frame lies in [low, high), above the one before it.
   `read` reads a word, returns 0 where it cannot, and must not fault: the way for user code. Null:
   memory in [low, high) is read directly, the way for the kernel's own stack. `frames` has room for
   RINGSIDE_MAX_FRAMES. */
struct ringside_stack ringside_walk(const struct ringside_registers* at, uintptr_t low,
                                    uintptr_t high, int (*read)(uintptr_t address, uintptr_t* word),
                                    uintptr_t* frames);

/* Notes that the next frame of a stack is code that was interrupted: for unwinders of a kernel's
   own, which follow the stack below an interrupt's handler. `low`, `high` and `read` are those of
   ringside_walk(), which notes its first frame. */
void ringside_note_interruption(struct ringside_stack* stack, const struct ringside_registers* at,
                                uintptr_t low, uintptr_t high,
                                int (*read)(uintptr_t address, uintptr_t* word));

/* The stack of the function that calls this, for an allocation or an event: its return address,
   then those of its callers, by frame pointers in [low, high), which is the stack in use. */
struct ringside_stack ringside_walk_callers(uintptr_t low, uintptr_t high, uintptr_t* frames);

/* What took the sample. */
enum ringside_source { RINGSIDE_TIMER = 0, RINGSIDE_NMI = 1, RINGSIDE_OTHER_SOURCE = 2 };

/* Takes a sample, in the handler of the timer or NMI. `kernel` is null where user code was
   interrupted. `user` is the user code that was interrupted or had entered the kernel, null where
   there is none. Both null: the CPU was idle. */
void ringside_sample(uint32_t cpu, enum ringside_source source, const struct ringside_task* task,
                     const struct ringside_stack* kernel, const struct ringside_stack* user);

enum ringside_operation { RINGSIDE_ALLOC = 0, RINGSIDE_REALLOC = 1, RINGSIDE_FREE = 2 };
enum ringside_unit { RINGSIDE_IN_BYTES = 0, RINGSIDE_IN_PAGES = 1, RINGSIDE_IN_OBJECTS = 2 };

struct ringside_allocation {
  enum ringside_operation operation;
  enum ringside_unit unit; /* of size */
  const char* allocator;   /* 16 bytes are kept */
  uint64_t pointer;        /* that was allocated, moved to, or freed */
  uint64_t old;            /* a realloc's pointer before; else 0 */
  uint64_t size;           /* asked for; of a free, 0 if it is not known */
};

/* Records an allocation after it has succeeded, and a free before it. `stack` has return addresses
   only, from the innermost to the outermost; it may be null. */
void ringside_allocated(uint32_t cpu, const struct ringside_allocation* what,
                        const struct ringside_task* task, const struct ringside_stack* stack);

/* Records an event of the kernel's own: a name, of which 24 bytes are kept, and up to
   RINGSIDE_MAX_NUMBERS numbers. `stack` is as an allocation's. */
void ringside_event(uint32_t cpu, const char* name, const int64_t* numbers, uint32_t count,
                    const struct ringside_task* task, const struct ringside_stack* stack);

/* Takes records out of a ring of mode RINGSIDE_DROP: copies whole ones, as the stream that
   `ringside import` reads. One caller at a time for each CPU. `bytes` is RINGSIDE_LEAST_BUFFER or
   more. Returns how many bytes were written; 0: there is nothing now. The streams of all CPUs may
   go to one port one piece after another, or to one file each. */
size_t ringside_drain(uint32_t cpu, void* destination, size_t bytes);

/* Records that found no room in a CPU's ring, since the start. */
uint64_t ringside_lost(uint32_t cpu);

/* What a page of a process's metadata has, which every engine of ringside reads: record --os
 * emerald. */
struct ringside_process {
  uint64_t pid;
  uint64_t image_base, image_bytes;  /* of all loaded segments */
  uint64_t program_headers;          /* bytes from image_base */
  uint64_t eh_frame, eh_frame_bytes; /* 0 if there is none */
  uint64_t text, text_bytes; /* the section .text, by which ringside finds the program's file */
};

/* Fills a page that the kernel maps, readable, at RINGSIDE_PROCESS_PAGE in that process (x86_64).
 */
#define RINGSIDE_PROCESS_PAGE 0xffffff7fffffe000ull
void ringside_describe_process(void* page, const struct ringside_process* process);

#ifdef __cplusplus
}
#endif
#endif
