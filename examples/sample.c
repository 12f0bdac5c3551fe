// The functions that symbolize names in examples_test.py, which expects these lines.
static volatile int seen;

static inline __attribute__((always_inline)) int twice(int x) {
  seen = x;  // line 5
  return x * 2;
}

__attribute__((noinline)) int work(int x) {
  return twice(x) + 1;  // line 10
}

int main(int argc, char** argv) {
  (void)argv;
  return work(argc);
}
