// A program for the single-step test: functions of every shape that compilers make of a frame. The
// test runs it instruction by instruction, keeps the true stack by watching calls and returns, and
// compares. Freestanding; its result does not matter.

typedef unsigned long u64;
#define NOINLINE __attribute__((noinline, noclone))

u64 call_without_frame(u64 (*function)(u64), u64 argument);
u64 call_through_thunks(u64 (*function)(u64), u64 argument);
#ifdef __i386__
u64 call_with_all_saved(u64 (*function)(u64), u64 argument);
#endif

void exit_program(void) __attribute__((noreturn));

volatile u64 sink;

NOINLINE u64 leaf(u64 x) { return x * 3 + 1; }

NOINLINE u64 leaf_with_array(u64 x) {
  volatile u64 values[12];
  for (int i = 0; i < 12; ++i) values[i] = x + i;
  return values[x % 12];
}

NOINLINE u64 recursive(u64 n) { return n == 0 ? leaf(n) : recursive(n - 1) + n; }

NOINLINE u64 many_arguments(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i) {
  return leaf(a + b) + c + d + e + f + g + leaf_with_array(h) + i;
}

NOINLINE u64 calls_with_stack_arguments(u64 x) {
  return many_arguments(x, 1, 2, 3, 4, 5, 6, 7, x + 8) + many_arguments(1, x, x, 3, 4, 5, x, 7, 8);
}

// An early way out before the prologue (shrink-wrapping).
NOINLINE u64 early_exit(u64 x) {
  if (x < 4) return x;
  u64 sum = 0;
  for (u64 i = 0; i < x; ++i) sum += leaf(i) ^ leaf(sum);
  return sum;
}

NOINLINE u64 tail_caller(u64 x) { return early_exit(x + 2); }

NOINLINE u64 dynamic(u64 n) {
  volatile char* bytes = __builtin_alloca(n * 8 + 16);
  for (u64 i = 0; i < n; ++i) bytes[i] = (char)leaf(i);
  return (u64)bytes[n / 2];
}

NOINLINE u64 realigned(u64 n) {
  volatile u64 values[8] __attribute__((aligned(64)));
  for (u64 i = 0; i < 8; ++i) values[i] = leaf(i + n);
  return values[n % 8];
}

NOINLINE u64 jump_table(u64 x) {
  switch (x) {
    case 0: return leaf(1);
    case 1: return leaf(x) + leaf(2);
    case 2: return leaf_with_array(x) * leaf(4);
    case 3: sink = x; return leaf(5) - 3;
    case 4: return recursive(3) + 7;
    case 5: return leaf(6) / 3;
    case 6: return leaf(7) << 2;
    default: return early_exit(x);
  }
}

__attribute__((cold, noinline)) u64 rare(u64 x) { return leaf(x) + 9; }

NOINLINE u64 with_cold_part(u64 x) {
  u64 sum = leaf(x);
  if (__builtin_expect(x % 5 == 4, 0)) {
    sum += rare(x);
    sum += rare(sum);
    sink = sum;
  }
  return sum + leaf(sum);
}

// On i386 the callee pops a word of its arguments with `ret 4`, which clang 14 does not tell its
// call-frame information.
#if !(defined(__i386__) && defined(__clang__))
#define WITH_STRUCTS
#endif

struct Big { u64 values[20]; };
NOINLINE struct Big returns_struct(u64 x) {
  struct Big big;
  for (int i = 0; i < 20; ++i) big.values[i] = leaf(x + i);
  return big;
}
NOINLINE u64 takes_struct(struct Big big, u64 i) { return leaf(big.values[i % 20]); }

NOINLINE u64 many_live(u64 a, u64 b, u64 c) {
  u64 d = leaf(a), e = leaf(b), f = leaf(c), g = leaf(d + e), h = leaf(e + f);
  u64 i = leaf(g * h + a), j = leaf(i + b), k = leaf(j ^ c);
  return a + b + c + d + e + f + g + h + i + j + k;
}

NOINLINE u64 only_by_pointer(u64 x) {
  u64 sum = leaf(x);
  for (u64 i = 0; i < 3; ++i) sum += leaf(sum + i);
  return sum;
}

u64 (*volatile functions[])(u64) = {leaf,      recursive,  early_exit,     dynamic,
                                    realigned, jump_table, only_by_pointer};

NOINLINE u64 interrupt_work(u64 x) { return leaf(x) + leaf_with_array(x); }
void interrupt_handler(void* frame) { sink = interrupt_work((u64)frame & 7); }

// The return address in its caller lies in another function. Where code is read and not run (link
// registers), all of it is to have a way out.
#if defined(__x86_64__) || defined(__i386__)
NOINLINE __attribute__((noreturn)) void finish(u64 x) {
  x += leaf(x) + early_exit(5);
  sink = x;
  exit_program();
}
#else
#define finish(x) (sink = (x))
#endif

void program(void) {
  u64 sum = recursive(7);
  for (u64 i = 0; i < 7; ++i) {
    sum += calls_with_stack_arguments(i) + tail_caller(i) + dynamic(i + 1) + realigned(i);
    sum += jump_table(i) + with_cold_part(i) + many_live(i, sum, 3);
#ifdef WITH_STRUCTS
    sum += takes_struct(returns_struct(i), i);
#endif
    sum += functions[i % 7](i % 5) + call_without_frame(functions[(i + 1) % 7], i % 4);
    sum += call_through_thunks(functions[(i + 3) % 7], i % 4);
#ifdef __i386__
    sum += call_with_all_saved(functions[(i + 2) % 7], i % 4);
#endif
  }
  finish(sum);
}

void* memset(void* to, int value, u64 size) {
  for (u64 i = 0; i < size; ++i) ((volatile char*)to)[i] = (char)value;
  return to;
}
void* memcpy(void* to, const void* from, u64 size) {
  for (u64 i = 0; i < size; ++i) ((volatile char*)to)[i] = ((const char*)from)[i];
  return to;
}
