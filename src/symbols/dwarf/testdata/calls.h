// Inlined calls over several files, in several pieces, nested, and in loops.
#pragma once

extern volatile int sink;

static inline int twice(int x) { return x + x; }

static inline __attribute__((always_inline)) int store(int x) {
  sink = x;
  return twice(sink) + 1;
}

static inline __attribute__((always_inline)) int store_many(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    if (i & 1) {
      int half = store(i) / 2;
      sum += half;
    } else {
      sum -= store(twice(i));
    }
  }
  return sum;
}

#ifdef __cplusplus
extern "C"
#endif
    int
    other_file(int x);
