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

// Ring 3's registers lie at the top of the thread's kernel stack while the kernel works for it,
// whether it came by an interrupt or by a system call. From the lowest address: PUSH_REGISTERS'
// fifteen (arch/registers.inc), rip, cs, rflags, rsp, ss.
#define SAVED_RAX 80
#define SAVED_RSP_BEHIND_RIP 24
#define USER_DATA 0x1b
#define USER_CODE 0x23

#define MSR_GS_BASE 0xc0000101

#define KERNEL_BASE 0xffffffff80000000

// Offsets in struct Cpu (arch/cpu.h asserts them).
#define CPU_KERNEL_STACK 8
#define CPU_USER_RSP 16
#define CPU_IRQ_STACK_SLOT 24
#define CPU_IRQ_DEPTH 32
#define CPU_NEED_RESCHED 36
