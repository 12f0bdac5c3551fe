// A kernel with two tasks, of which a timer's interrupt runs the one and the other in turns. Its entry code saves the registers
// that C code changes and nothing else, and no call-frame information describes it. The interrupted pc stays in the processor's
// register (mepc, ELR) while handler_work() runs. During late_work() it is the other task's there: this one's is in memory.
#include "spin.h"

#ifdef __riscv
#define UART (*(volatile unsigned char*)0x10000000)
#define MTIMECMP (*(volatile u64*)(0x2004000ul))
#define MTIME (*(volatile u64*)(0x200bff8ul))
enum { kTick = 20000 };  // of 10 MHz

__asm__(
    ".section .text.start,\"ax\"\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  la sp, stack_end\n"
    "  li s0, 0\n"
    "  la t0, trap_entry\n"
    "  csrw mtvec, t0\n"
    "  call set_up\n"
    "  li t0, 0x80\n"  // mie.MTIE
    "  csrs mie, t0\n"
    "  csrsi mstatus, 8\n"  // MIE
    "  call task_one\n"
    ".size _start, . - _start\n"
    ".text\n"
    ".globl trap_entry\n"
    ".type trap_entry, @function\n"
    ".balign 4\n"
    "trap_entry:\n"
    "  addi sp, sp, -128\n"
    "  sd ra, 0(sp)\n  sd t0, 8(sp)\n  sd t1, 16(sp)\n  sd t2, 24(sp)\n  sd a0, 32(sp)\n  sd a1, 40(sp)\n"
    "  sd a2, 48(sp)\n  sd a3, 56(sp)\n  sd a4, 64(sp)\n  sd a5, 72(sp)\n  sd a6, 80(sp)\n  sd a7, 88(sp)\n"
    "  sd t3, 96(sp)\n  sd t4, 104(sp)\n  sd t5, 112(sp)\n  sd t6, 120(sp)\n"
    "  call on_timer\n"
    "  ld ra, 0(sp)\n  ld t0, 8(sp)\n  ld t1, 16(sp)\n  ld t2, 24(sp)\n  ld a0, 32(sp)\n  ld a1, 40(sp)\n"
    "  ld a2, 48(sp)\n  ld a3, 56(sp)\n  ld a4, 64(sp)\n  ld a5, 72(sp)\n  ld a6, 80(sp)\n  ld a7, 88(sp)\n"
    "  ld t3, 96(sp)\n  ld t4, 104(sp)\n  ld t5, 112(sp)\n  ld t6, 120(sp)\n"
    "  addi sp, sp, 128\n"
    "  mret\n"
    ".size trap_entry, . - trap_entry\n");

#define READ_PC(to) __asm__ volatile("csrr %0, mepc" : "=r"(to))
#define READ_STATUS(to) __asm__ volatile("csrr %0, mstatus" : "=r"(to))
#define WRITE_PC(from) __asm__ volatile("csrw mepc, %0" ::"r"(from))
#define WRITE_STATUS(from) __asm__ volatile("csrw mstatus, %0" ::"r"(from))
enum { kSaved = 14, kReturn = 0 };  // words of switch_stacks()
__asm__(
    ".globl switch_stacks\n"
    ".type switch_stacks, @function\n"
    "switch_stacks:\n"
    "  addi sp, sp, -112\n"
    "  sd ra, 0(sp)\n  sd s0, 8(sp)\n  sd s1, 16(sp)\n  sd s2, 24(sp)\n  sd s3, 32(sp)\n  sd s4, 40(sp)\n"
    "  sd s5, 48(sp)\n  sd s6, 56(sp)\n  sd s7, 64(sp)\n  sd s8, 72(sp)\n  sd s9, 80(sp)\n  sd s10, 88(sp)\n"
    "  sd s11, 96(sp)\n"
    "  sd sp, 0(a0)\n"
    "  mv sp, a1\n"
    "  ld ra, 0(sp)\n  ld s0, 8(sp)\n  ld s1, 16(sp)\n  ld s2, 24(sp)\n  ld s3, 32(sp)\n  ld s4, 40(sp)\n"
    "  ld s5, 48(sp)\n  ld s6, 56(sp)\n  ld s7, 64(sp)\n  ld s8, 72(sp)\n  ld s9, 80(sp)\n  ld s10, 88(sp)\n"
    "  ld s11, 96(sp)\n"
    "  addi sp, sp, 112\n"
    "  ret\n"
    ".size switch_stacks, . - switch_stacks\n"
    ".globl start_two\n"
    ".type start_two, @function\n"
    "start_two:\n"
    "  csrsi mstatus, 8\n"
    "  call task_two\n"
    ".size start_two, . - start_two\n");

static void start_timer(void) { MTIMECMP = MTIME + kTick; }
static void end_interrupt(void) { MTIMECMP = MTIME + kTick; }
static void prepare(void) {}
#else
#define UART (*(volatile unsigned*)0x9000000)
#define GICD ((volatile unsigned*)0x8000000)
#define GICC ((volatile unsigned*)0x8010000)
enum { kTick = 125000, kTimer = 27 };  // of 62.5 MHz; the virtual timer's interrupt

__asm__(
    ".macro entry name\n"
    ".balign 128\n"
    "  b \\name\n"
    ".endm\n"
    ".section .text.start,\"ax\"\n"
    ".globl _start\n"
    ".type _start, %function\n"
    "_start:\n"
    "  adrp x0, stack_end\n"
    "  add x0, x0, :lo12:stack_end\n"
    "  mov sp, x0\n"
    "  mov x29, #0\n"
    "  mov x30, #0\n"
    "  adrp x0, vectors\n"
    "  add x0, x0, :lo12:vectors\n"
    "  msr vbar_el1, x0\n"
    "  bl set_up\n"
    "  msr daifclr, #2\n"
    "  bl task_one\n"
    ".size _start, . - _start\n"
    ".text\n"
    ".balign 2048\n"
    ".globl vectors\n"
    ".type vectors, %function\n"
    "vectors:\n"
    "  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n"
    "  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n"
    ".size vectors, . - vectors\n"
    ".globl trap_entry\n"
    ".type trap_entry, %function\n"
    "trap_entry:\n"
    "  sub sp, sp, #176\n"
    "  stp x0, x1, [sp, #0]\n  stp x2, x3, [sp, #16]\n  stp x4, x5, [sp, #32]\n  stp x6, x7, [sp, #48]\n"
    "  stp x8, x9, [sp, #64]\n  stp x10, x11, [sp, #80]\n  stp x12, x13, [sp, #96]\n  stp x14, x15, [sp, #112]\n"
    "  stp x16, x17, [sp, #128]\n  stp x18, x29, [sp, #144]\n  str x30, [sp, #160]\n"
    "  bl on_timer\n"
    "  ldp x0, x1, [sp, #0]\n  ldp x2, x3, [sp, #16]\n  ldp x4, x5, [sp, #32]\n  ldp x6, x7, [sp, #48]\n"
    "  ldp x8, x9, [sp, #64]\n  ldp x10, x11, [sp, #80]\n  ldp x12, x13, [sp, #96]\n  ldp x14, x15, [sp, #112]\n"
    "  ldp x16, x17, [sp, #128]\n  ldp x18, x29, [sp, #144]\n  ldr x30, [sp, #160]\n"
    "  add sp, sp, #176\n"
    "  eret\n"
    ".size trap_entry, . - trap_entry\n");

#define READ_PC(to) __asm__ volatile("mrs %0, elr_el1" : "=r"(to))
#define READ_STATUS(to) __asm__ volatile("mrs %0, spsr_el1" : "=r"(to))
#define WRITE_PC(from) __asm__ volatile("msr elr_el1, %0" ::"r"(from))
#define WRITE_STATUS(from) __asm__ volatile("msr spsr_el1, %0" ::"r"(from))
enum { kSaved = 12, kReturn = 11 };  // words of switch_stacks()
__asm__(
    ".globl switch_stacks\n"
    ".type switch_stacks, %function\n"
    "switch_stacks:\n"
    "  sub sp, sp, #96\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  mov x2, sp\n"
    "  str x2, [x0]\n"
    "  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  add sp, sp, #96\n"
    "  ret\n"
    ".size switch_stacks, . - switch_stacks\n"
    ".globl start_two\n"
    ".type start_two, %function\n"
    "start_two:\n"
    "  msr daifclr, #2\n"
    "  bl task_two\n"
    ".size start_two, . - start_two\n");

static void start_timer(void) {
  __asm__ volatile("msr cntv_tval_el0, %0\n\tmsr cntv_ctl_el0, %1" ::"r"((u64)kTick), "r"(1ul));
}
static void prepare(void) {
  GICD[0] = 1;
  GICD[0x100 / 4] = 1u << kTimer;  // GICD_ISENABLER0
  GICC[1] = 0xff;                  // GICC_PMR
  GICC[0] = 1;
}
static void end_interrupt(void) {
  const unsigned number = GICC[3];
  start_timer();
  GICC[4] = number;
}
#endif

__asm__(".bss\n.balign 4096\n  .space 16384\nstack_end:\n.text\n");

static volatile u64 sink;
static NOINLINE void handler_work(void) {
  SPIN(100000);
  sink = 1;
}
static NOINLINE void late_work(void) {
  SPIN(100000);
  sink = 2;
}

void switch_stacks(u64* saved_sp, u64 sp);
void start_two(void);
static struct {
  u64 sp, pc, status;
} tasks[2];
static unsigned current;
static u64 second_stack[2048] __attribute__((aligned(16)));

void on_timer(void) {
  const unsigned before = current;
  READ_PC(tasks[before].pc);
  READ_STATUS(tasks[before].status);
  handler_work();
  end_interrupt();
  current ^= 1;
  switch_stacks(&tasks[before].sp, tasks[current].sp);
  late_work();
  WRITE_PC(tasks[current].pc);
  WRITE_STATUS(tasks[current].status);
}

static NOINLINE void one_spin(void) { SPIN(30000); }
static NOINLINE void one_chain(void) {
  one_spin();
  sink = 3;
}
static NOINLINE void two_spin(void) { SPIN(30000); }
static NOINLINE void two_chain(void) {
  two_spin();
  sink = 4;
}
NOINLINE void task_one(void) {
  for (;;) one_chain();
}
NOINLINE void task_two(void) {
  for (;;) two_chain();
}

void set_up(void) {
  u64* const saved = second_stack + sizeof second_stack / sizeof *second_stack - kSaved;
  saved[kReturn] = (u64)&start_two;
  tasks[1].sp = (u64)saved;
  prepare();
  for (const char* text = "bare entry: ready\n"; *text; ++text) UART = *text;
  start_timer();
}
