// A kernel in machine mode with one task, which computes all the time, and the machine's timer (CLINT), which interrupts it a
// hundred times a second. Nothing else runs, so the timer's interrupt has hardly a sample.
typedef unsigned long u64;
#define MTIMECMP (*(volatile u64*)(0x2004000ul))
#define MTIME (*(volatile u64*)(0x200bff8ul))
#define UART (*(volatile unsigned char*)0x10000000)

enum { kTick = 100000 };  // of 10 MHz

__asm__(
    ".section .text.start,\"ax\"\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  la sp, stack_end\n"
    "  la t0, trap_entry\n"
    "  csrw mtvec, t0\n"
    "  call set_up\n"
    "  li t0, 0x80\n"  // mie.MTIE
    "  csrs mie, t0\n"
    "  csrsi mstatus, 8\n"  // MIE
    "  call task\n"
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
    ".size trap_entry, . - trap_entry\n"
    ".bss\n"
    ".balign 16\n"
    "  .space 16384\n"
    "stack_end:\n");

void set_up(void) {
  for (const char* text = "one task: ready\n"; *text; ++text) UART = *text;
  MTIMECMP = MTIME + kTick;
}

void on_timer(void) { MTIMECMP = MTIME + kTick; }

static volatile u64 sink;

__attribute__((noinline)) static u64 compute(u64 x) {
  for (int i = 0; i < 100; ++i) x = x * 6364136223846793005ul + 1442695040888963407ul;
  return x;
}

void task(void) {
  for (u64 x = 1;;) sink = x = compute(x);
}
