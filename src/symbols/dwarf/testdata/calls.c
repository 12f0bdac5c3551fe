#include <calls.h>

volatile int sink;

struct deep {
  struct {
    int a;
    union {
      long b;
      struct deep *next;
    } u;
  } inner[3];
  enum { ONE, TWO } number;
};

static __attribute__((noinline, cold)) int unlikely_part(struct deep *d) {
  d->number = TWO;
  return store(d->inner[1].a);
}

static __attribute__((noinline)) int with_static_argument(int x, int unused) {
  (void)unused;
  return store_many(x) * 3;
}

__attribute__((noinline)) int several(struct deep *d, int x) {
  if (__builtin_expect(x == 77, 0)) {
    sink = 7;
    x += unlikely_part(d) + store(x);
  }
  {
    int y = store_many(x & 7);
    x ^= y;
  }
  return x + with_static_argument(x, 5) + other_file(x);
}

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noinline)) int with_nested(int x) {
  __attribute__((noinline)) int nested(int y) { return store(x + y); }
  return nested(1) + nested(sink);
}
#else
__attribute__((noinline)) int with_nested(int x) { return store(x); }
#endif

__attribute__((noinline)) int never_called(int x) { return store(x + 12); }

void _start(void) {
  struct deep d;
  d.inner[1].a = 3;
  sink = several(&d, sink) + with_nested(sink);
  for (;;) store(sink);
}
