// A kernel that stays in machine mode, as real-time systems do: no firmware, no page tables. The machine's timer (CLINT)
// interrupts it a thousand times a second. Every eighth of its time a task runs in user mode, without page tables, too.
#define CLINT 0x2000000ul
#define MTIMECMP (*(volatile u64*)(CLINT + 0x4000))
#define MTIME (*(volatile u64*)(CLINT + 0xbff8))
// A counter: MTIME is a device, and a vCPU that uses one may have to wait (work.h).
static inline unsigned long read_time(void) {
  unsigned long time;
  __asm__ volatile("csrr %0, time" : "=r"(time));
  return time;
}
#define READ_CLOCK read_time()
#define UART (*(volatile unsigned char*)0x10000000)
#include "work.h"

enum { kTicks = 10000, kFromUser = 8 };  // of 10 MHz; mcause of ecall in user mode

__asm__(
    ".section .text.start,\"ax\"\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  la sp, stack_end\n"
    "  li s0, 0\n"
    "  la t0, trap_entry\n"
    "  csrw mtvec, t0\n"
    "  csrw mscratch, zero\n"
    "  li t0, -1\n"
    "  csrw pmpaddr0, t0\n"
    "  li t0, 0x1f\n"
    "  csrw pmpcfg0, t0\n"
    "  call kernel_main\n"
    ".size _start, . - _start\n"
    ".text\n"
    ".globl trap_entry\n"
    ".type trap_entry, @function\n"
    ".balign 4\n"
    "trap_entry:\n"
    "  csrrw sp, mscratch, sp\n"  // mscratch: the kernel's stack while the task runs, else 0
    "  bnez sp, 1f\n"
    "  csrr sp, mscratch\n"
    "1:addi sp, sp, -272\n"
    "  sd ra, 8(sp)\n  sd gp, 24(sp)\n  sd tp, 32(sp)\n  sd t0, 40(sp)\n  sd t1, 48(sp)\n  sd t2, 56(sp)\n"
    "  sd s0, 64(sp)\n  sd s1, 72(sp)\n  sd a0, 80(sp)\n  sd a1, 88(sp)\n  sd a2, 96(sp)\n  sd a3, 104(sp)\n"
    "  sd a4, 112(sp)\n  sd a5, 120(sp)\n  sd a6, 128(sp)\n  sd a7, 136(sp)\n  sd s2, 144(sp)\n  sd s3, 152(sp)\n"
    "  sd s4, 160(sp)\n  sd s5, 168(sp)\n  sd s6, 176(sp)\n  sd s7, 184(sp)\n  sd s8, 192(sp)\n  sd s9, 200(sp)\n"
    "  sd s10, 208(sp)\n  sd s11, 216(sp)\n  sd t3, 224(sp)\n  sd t4, 232(sp)\n  sd t5, 240(sp)\n  sd t6, 248(sp)\n"
    "  csrrw t0, mscratch, zero\n"
    "  sd t0, 16(sp)\n"
    "  csrr t0, mepc\n  sd t0, 256(sp)\n"
    "  csrr t1, mstatus\n  sd t1, 264(sp)\n"
    "  csrr a0, mcause\n"
    "  mv a1, sp\n"
    "  call handle_trap\n"
    "  ld t0, 256(sp)\n  csrw mepc, t0\n"
    "  ld t1, 264(sp)\n  csrw mstatus, t1\n"
    "  li t2, 0x1800\n"
    "  and t1, t1, t2\n"
    "  bnez t1, 2f\n"
    "  addi t0, sp, 272\n"
    "  csrw mscratch, t0\n"
    "2:ld ra, 8(sp)\n  ld gp, 24(sp)\n  ld tp, 32(sp)\n  ld t0, 40(sp)\n  ld t1, 48(sp)\n  ld t2, 56(sp)\n"
    "  ld s0, 64(sp)\n  ld s1, 72(sp)\n  ld a0, 80(sp)\n  ld a1, 88(sp)\n  ld a2, 96(sp)\n  ld a3, 104(sp)\n"
    "  ld a4, 112(sp)\n  ld a5, 120(sp)\n  ld a6, 128(sp)\n  ld a7, 136(sp)\n  ld s2, 144(sp)\n  ld s3, 152(sp)\n"
    "  ld s4, 160(sp)\n  ld s5, 168(sp)\n  ld s6, 176(sp)\n  ld s7, 184(sp)\n  ld s8, 192(sp)\n  ld s9, 200(sp)\n"
    "  ld s10, 208(sp)\n  ld s11, 216(sp)\n  ld t3, 224(sp)\n  ld t4, 232(sp)\n  ld t5, 240(sp)\n  ld t6, 248(sp)\n"
    "  ld sp, 16(sp)\n"
    "  mret\n"
    ".size trap_entry, . - trap_entry\n"
    // Saves the kernel's side, and goes to user mode; the task's ecall returns from here.
    ".globl enter_task\n"
    ".type enter_task, @function\n"
    "enter_task:\n"
    "  addi sp, sp, -112\n"
    "  sd ra, 104(sp)\n  sd s0, 96(sp)\n  sd s1, 8(sp)\n  sd s2, 16(sp)\n  sd s3, 24(sp)\n  sd s4, 32(sp)\n"
    "  sd s5, 40(sp)\n  sd s6, 48(sp)\n  sd s7, 56(sp)\n  sd s8, 64(sp)\n  sd s9, 72(sp)\n  sd s10, 80(sp)\n"
    "  sd s11, 88(sp)\n"
    "  la t0, task_return\n  sd sp, 0(t0)\n"
    "  csrw mscratch, sp\n"
    "  la t0, task_main\n  csrw mepc, t0\n"
    "  li t0, 0x1800\n  csrc mstatus, t0\n"
    "  la sp, task_stack_end\n"
    "  li s0, 0\n  li ra, 0\n"
    "  mret\n"
    ".globl leave_task\n"
    "leave_task:\n"
    "  la t0, task_return\n  ld sp, 0(t0)\n"
    "  ld ra, 104(sp)\n  ld s0, 96(sp)\n  ld s1, 8(sp)\n  ld s2, 16(sp)\n  ld s3, 24(sp)\n  ld s4, 32(sp)\n"
    "  ld s5, 40(sp)\n  ld s6, 48(sp)\n  ld s7, 56(sp)\n  ld s8, 64(sp)\n  ld s9, 72(sp)\n  ld s10, 80(sp)\n"
    "  ld s11, 88(sp)\n"
    "  addi sp, sp, 112\n"
    "  ret\n"
    ".size enter_task, . - enter_task\n"
    ".bss\n.balign 16\n.space 16384\nstack_end:\n.space 8192\ntask_stack_end:\ntask_return: .space 8\n");

void enter_task(void);
void leave_task(void);

struct Frame {
  u64 registers[32];
  u64 mepc;
  u64 mstatus;
};

static volatile u64 ticks;

static NOINLINE void timer_interrupt(void) {
  MTIMECMP = MTIME + kTicks;
  ticks = ticks + 1;
  SPIN(4000);
}

void handle_trap(u64 cause, struct Frame* frame) {
  if (cause >> 63) {
    timer_interrupt();
  } else {
    // The task is done: to machine mode, behind enter_task, with interrupts on again.
    frame->mepc = (u64)leave_task;
    frame->mstatus |= 0x1800;
  }
  __asm__ volatile("");
}

static NOINLINE void task_spin(void) { SPIN(100 * kUnit / 7); }

NOINLINE void task_main(void) {
  task_spin();
  __asm__ volatile("ecall");
  for (;;) {
  }
}

NOINLINE void kernel_main(void) {
  MTIMECMP = MTIME + kTicks;
  __asm__ volatile("csrs mie, %0" ::"r"(0x80ul));
  __asm__ volatile("csrs mstatus, %0" ::"r"(8ul));
  for (;;) {
    one_round();
    MEASURED(kBelow, enter_task());
    report_spent();
    __asm__ volatile("csrs mstatus, %0" ::"r"(8ul));
  }
}
