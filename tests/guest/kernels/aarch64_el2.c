// A kernel that stays in the exception level in which QEMU starts it: EL2 with virtualization=on, EL3 with
// secure=on. The MMU stays off. A timer interrupts it a thousand times a second. Every eighth of its time a guest of its runs in EL1, out of
// memory that no file describes.
#define READ_CLOCK                                          \
  ({                                                        \
    u64 ticks;                                              \
    __asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(ticks)); \
    ticks;                                                  \
  })
#define UART (*(volatile unsigned*)0x9000000)
#include "work.h"

#define CPU_TIMER_TICKS 62500ul  // of 62.5 MHz

#define GICD ((volatile unsigned*)0x8000000)
#define GICC ((volatile unsigned*)0x8010000)

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
    "  bl kernel_main\n"
    ".size _start, . - _start\n"
    ".text\n"
    ".balign 2048\n"
    ".globl vectors\n"
    ".type vectors, %function\n"
    "vectors:\n"
    "  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n"
    "  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n"
    "  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n"
    "  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n  entry trap_entry\n"
    ".size vectors, . - vectors\n"
    ".macro in_level el2, el3\n"  // one of the two, by the level that runs
    "  mrs x2, CurrentEL\n"
    "  cmp x2, #8\n"
    "  b.ne 7f\n"
    "  \\el2\n"
    "  b 8f\n"
    "7:\\el3\n"
    "8:\n"
    ".endm\n"
    ".globl trap_entry\n"
    ".type trap_entry, %function\n"
    "trap_entry:\n"
    "  sub sp, sp, #272\n"
    "  stp x0, x1, [sp, #0]\n  stp x2, x3, [sp, #16]\n  stp x4, x5, [sp, #32]\n  stp x6, x7, [sp, #48]\n"
    "  stp x8, x9, [sp, #64]\n  stp x10, x11, [sp, #80]\n  stp x12, x13, [sp, #96]\n  stp x14, x15, [sp, #112]\n"
    "  stp x16, x17, [sp, #128]\n  stp x18, x19, [sp, #144]\n  stp x20, x21, [sp, #160]\n  stp x22, x23, [sp, #176]\n"
    "  stp x24, x25, [sp, #192]\n  stp x26, x27, [sp, #208]\n  stp x28, x29, [sp, #224]\n"
    "  in_level \"mrs x0, elr_el2\", \"mrs x0, elr_el3\"\n"
    "  in_level \"mrs x1, spsr_el2\", \"mrs x1, spsr_el3\"\n"
    "  stp x30, x0, [sp, #240]\n"
    "  str x1, [sp, #256]\n"
    "  mov x0, sp\n"
    "  bl handle_trap\n"
    "  ldp x30, x0, [sp, #240]\n"
    "  ldr x1, [sp, #256]\n"
    "  in_level \"msr elr_el2, x0\", \"msr elr_el3, x0\"\n"
    "  in_level \"msr spsr_el2, x1\", \"msr spsr_el3, x1\"\n"
    "  ldp x0, x1, [sp, #0]\n  ldp x2, x3, [sp, #16]\n  ldp x4, x5, [sp, #32]\n  ldp x6, x7, [sp, #48]\n"
    "  ldp x8, x9, [sp, #64]\n  ldp x10, x11, [sp, #80]\n  ldp x12, x13, [sp, #96]\n  ldp x14, x15, [sp, #112]\n"
    "  ldp x16, x17, [sp, #128]\n  ldp x18, x19, [sp, #144]\n  ldp x20, x21, [sp, #160]\n  ldp x22, x23, [sp, #176]\n"
    "  ldp x24, x25, [sp, #192]\n  ldp x26, x27, [sp, #208]\n  ldp x28, x29, [sp, #224]\n"
    "  add sp, sp, #272\n"
    "  eret\n"
    ".size trap_entry, . - trap_entry\n"
    // The guest ends in a call of its hypervisor, whose trap goes on behind here.
    ".globl enter_guest\n"
    ".type enter_guest, %function\n"
    "enter_guest:\n"
    "  stp x29, x30, [sp, #-96]!\n"
    "  mov x29, sp\n"
    "  stp x19, x20, [sp, #16]\n  stp x21, x22, [sp, #32]\n  stp x23, x24, [sp, #48]\n  stp x25, x26, [sp, #64]\n"
    "  stp x27, x28, [sp, #80]\n"
    "  mov x1, #0x3c5\n"  // EL1h, interrupts off: they are the hypervisor's
    "  in_level \"msr elr_el2, x0\", \"msr elr_el3, x0\"\n"
    "  in_level \"msr spsr_el2, x1\", \"msr spsr_el3, x1\"\n"
    "  mov x29, #0\n"
    "  eret\n"
    ".globl leave_guest\n"
    "leave_guest:\n"
    "  ldp x19, x20, [sp, #16]\n  ldp x21, x22, [sp, #32]\n  ldp x23, x24, [sp, #48]\n  ldp x25, x26, [sp, #64]\n"
    "  ldp x27, x28, [sp, #80]\n"
    "  ldp x29, x30, [sp], #96\n"
    "  ret\n"
    ".size enter_guest, . - enter_guest\n"
    ".section .rodata\n"
    ".balign 4\n"
    "guest_code:\n"
    "  movz x0, #23570\n  movk x0, #4, lsl #16\n"  // a seventh of the others' turns
    "1:nop\n  nop\n  nop\n  sub x0, x0, #1\n  cbnz x0, 1b\n"
    "guest_call:\n"
    "2:hvc #0\n"  // in EL3's guest smc
    "  b 2b\n"
    "guest_code_end:\n"
    ".bss\n.balign 4096\n.space 16384\nstack_end:\n");

extern char guest_code[], guest_call[], guest_code_end[], vectors[];
void enter_guest(void* code);
void leave_guest(void);

struct Frame {
  u64 registers[31];
  u64 elr;
  u64 spsr;
};

static u64 level;  // 2 or 3

#define READ(name)                                   \
  ({                                                 \
    u64 value;                                       \
    __asm__ volatile("mrs %0, " #name : "=r"(value)); \
    value;                                           \
  })
#define WRITE(name, value) __asm__ volatile("msr " #name ", %0\n\tisb" ::"r"((u64)(value)))

static void arm_timer(void) {
  if (level == 2) {
    WRITE(cnthp_tval_el2, CPU_TIMER_TICKS);
    WRITE(cnthp_ctl_el2, 1);
  } else {
    WRITE(cntps_tval_el1, CPU_TIMER_TICKS);
    WRITE(cntps_ctl_el1, 1);
  }
}

static NOINLINE void timer_interrupt(void) {
  unsigned number = GICC[3];
  arm_timer();
  SPIN(4000);
  GICC[4] = number;
}

// An interrupt, or the guest's call.
void handle_trap(struct Frame* frame) {
  if (READ(isr_el1) != 0) {
    timer_interrupt();
  } else {
    frame->elr = (u64)leave_guest;
    frame->spsr = level == 2 ? 0x3c9 : 0x3cd;  // EL2h, EL3h
  }
  __asm__ volatile("");
}

static void open_interrupts(void) {
  const unsigned timer = level == 2 ? 26 : 29;
  GICD[0] = 1;
  GICD[0x100 / 4] = 1u << timer;
  GICC[0] = 1;
  GICC[1] = 0xff;
  arm_timer();
}

NOINLINE void kernel_main(void) {
  level = READ(CurrentEL) >> 2;
  if (level == 2) {
    WRITE(vbar_el2, vectors);
    WRITE(hcr_el2, 1ul << 31 | 1 << 4 | 1 << 3);  // RW, IMO, FMO
  } else {
    WRITE(vbar_el3, vectors);
    WRITE(scr_el3, 0x430 | 1 << 1 | 1 << 2);  // RW, RES1, IRQ, FIQ
  }
  char* const guest = (char*)0x42000000;
  for (u64 i = 0; i < (u64)(guest_code_end - guest_code); ++i) guest[i] = guest_code[i];
  if (level == 3) *(unsigned*)(guest + (guest_call - guest_code)) = 0xd4000003;  // smc #0
  __asm__ volatile("dsb ish\n\tic iallu\n\tisb");
  open_interrupts();
  for (;;) {
    __asm__ volatile("msr daifclr, #3");
    one_round();
    __asm__ volatile("msr daifset, #3");
    MEASURED(kBelow, enter_guest(guest));
    report_spent();
  }
}
