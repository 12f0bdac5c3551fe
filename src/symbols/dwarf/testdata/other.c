#include <calls.h>

static int helper(int x) {
  asm volatile("" ::: "memory");
  return store(x * 5);
}

int other_file(int x) { return helper(x) + helper(x + 1) + store_many(3); }
