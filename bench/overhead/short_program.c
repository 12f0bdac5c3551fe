/* A short program, which the workload `programs` starts: 64 functions, whose blocks run once or a few times. No C
   library: what runs is what stands here. */

static volatile unsigned sink;

#define FUNCTION(n)                                                        \
  static __attribute__((noinline)) unsigned function_##n(unsigned value) { \
    if (value & 1) value = value * 3 + n;                                  \
    for (int i = 0; i < 4; ++i) {                                          \
      if (value % 5 == 2) sink = value;                                    \
      value = value & 2 ? value ^ (value >> 7) ^ n : value + 0x9e3779b1u;  \
    }                                                                      \
    return value > 0x80000000u ? ~value : value;                           \
  }
#define CALL(n) value = function_##n(value);
#define FOUR(DO, n) DO(n##0) DO(n##1) DO(n##2) DO(n##3)
#define SIXTEEN(DO, n) FOUR(DO, n##0) FOUR(DO, n##1) FOUR(DO, n##2) FOUR(DO, n##3)
#define ALL(DO) SIXTEEN(DO, 1) SIXTEEN(DO, 2) SIXTEEN(DO, 3) SIXTEEN(DO, 4)

ALL(FUNCTION)

__attribute__((force_align_arg_pointer, noreturn)) void _start(void) {
  unsigned value = 1;
  ALL(CALL)
  sink = value;
  while (1) __asm__ volatile("syscall" : : "a"(60L), "D"(0L) : "rcx", "r11", "memory"); /* exit */
}
