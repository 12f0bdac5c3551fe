// The kernel's functions and each machine's, which the other part calls.
#pragma once

typedef unsigned long word;

// User code in a page of its own, copied there from the kernel: it spins, makes a system call, and
// causes an exception, again and again.
extern const char user_begin[], user_end[];
extern char user_page[], user_stack_end[];

// Handlers, by what has entered the kernel. Each spins in a function of its own.
void on_interrupt(void);
void on_system_call(void);
void on_exception(void);

void print(const char* text);
// Sets up page tables, entries and a timer.
void machine_start(void);
void enter_user(void) __attribute__((noreturn));
void machine_end_of_interrupt(void);

void spin(unsigned rounds);
