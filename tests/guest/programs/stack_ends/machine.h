// The functions that each architecture's assembly provides to the kernel, and the memory layout:
// regions 0 and 1 are the kernel's, 2 is mapped nowhere, 3 is user code's.
#pragma once

typedef unsigned long word;

#if defined(__x86_64__)
#define BASE 0x0ul
#define REGION 0x200000ul
#define HAS_RETURN_SLOT 1
#define HAS_USER 1
#elif defined(__i386__)
#define BASE 0x0ul
#define REGION 0x400000ul
#define HAS_RETURN_SLOT 1
#elif defined(__aarch64__)
#define BASE 0x40200000ul
#define REGION 0x200000ul
#define HAS_RETURN_SLOT 0
#define HAS_USER 1
#else
#define BASE 0x80200000ul
#define REGION 0x200000ul
#define HAS_RETURN_SLOT 0
#define HAS_USER 1
#endif
#define LAST_STACK_END (BASE + 2 * REGION)
#define USER (BASE + 3 * REGION)

// Starts the second vCPU and what else is needed.
void machine_start(void);
void machine_allow_interrupts(void);
void machine_end_of_interrupt(void);
void print(const char* text);

// Saves what a called function keeps on this stack, the stack pointer in *from, and goes on where
// the stack `to` was left.
void switch_stack(word** from, word* to);
// The same, but jumps to `entry` with the stack pointer and link register given, and with a frame
// pointer that is none.
void start_thread(word** from, word* sp, void (*entry)(void), word link);
// The same, to user code, which comes back by trap_from_user().
void enter_user(word** from, word to);

// The stacks that the machines' parts use.
extern word boot_stack[], secondary_stack[], trap_stack[];
