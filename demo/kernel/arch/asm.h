// For .S files only.

// Call-frame information stands beside every instruction that changes a frame, in the variant that
// has any.
#ifdef RINGSIDE_CFI
#define CFI(...) __VA_ARGS__
#else
#define CFI(...)
#endif

// Every function has a type and a size, so that an address between two functions belongs to
// neither.
#define FUNCTION(name)   \
  .globl name;           \
  .type name, @function; \
  .p2align 4;            \
  name:
#define END(name) .size name, .- name

#define KERNEL_BASE 0xffffffff80000000

// Offsets in struct Cpu (arch/cpu.h asserts them).
#define CPU_KERNEL_STACK 8
#define CPU_USER_RSP 16
#define CPU_IRQ_STACK_SLOT 24
#define CPU_IRQ_DEPTH 32
#define CPU_NEED_RESCHED 36
