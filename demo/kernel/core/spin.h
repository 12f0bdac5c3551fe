#pragma once

#include "core/types.h"

// The unit of all work: one loop, the same instructions everywhere, in the kernel and in user
// programs. Its eight operations depend on one register, so its speed is their latency and does not
// depend on where it stands.
//
// Under TCG a loop that crosses a page is some twenty times slower. Its 49 bytes after .p2align 6
// cannot cross one; every instance is recorded in .ringside_loops (not loaded), and
// tools/check_loops.py checks them after the link.
//
// A macro, so that the loop belongs to the source line that it stands in. `n`, a variable, counts
// down to 0.
#define SPIN(n)                                           \
  do {                                                    \
    u64 spin_x = (n);                                     \
    asm volatile(                                         \
        ".p2align 6\n"                                    \
        "1: imulq $0x5851f42d, %0, %0\n"                  \
        "addq $0x14057b7f, %0\n"                          \
        "rolq $29, %0\n"                                  \
        "imulq $0x4f6cdd1d, %0, %0\n"                     \
        "addq $0x14057b7f, %0\n"                          \
        "rolq $31, %0\n"                                  \
        "xorq $0x2545f491, %0\n"                          \
        "rolq $17, %0\n"                                  \
        "decq %1\n"                                       \
        "jnz 1b\n"                                        \
        "2:\n"                                            \
        ".pushsection .ringside_loops, \"\", @progbits\n" \
        ".quad 1b, 2b\n"                                  \
        ".popsection"                                     \
        : "+a"(spin_x), "+c"(n)                           \
        :                                                 \
        : "cc");                                          \
  } while (false)

INLINE void spin(u64 iterations) { SPIN(iterations); }
