/* The first program of the guest whose processor time is measured: it takes orders from the second serial port, one a
   line, "NAME COUNT", does that work and says "done NAME COUNT" there. No C library: what runs is what stands here. */

enum { kRead = 0, kWrite = 1, kOpen = 2, kClose = 3, kFork = 57, kExecve = 59, kExit = 60, kWait4 = 61 };
enum { kGetppid = 110, kMount = 165 };
enum { kWriteOnly = 1, kReadWrite = 2, kCreate = 0100, kNoControllingTerminal = 0400, kTruncate = 01000 };

static long call(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}

static volatile unsigned sink;
static unsigned table[16384]; /* 64 KiB */

static __attribute__((noinline)) unsigned mix(unsigned a, unsigned b) {
  a ^= b;
  a *= 0x9e3779b1u;
  return (a >> 15) ^ a;
}

/* Calls, loads, stores and branches that depend on the data: blocks as compiled programs have them. */
static __attribute__((noinline)) unsigned sort_some(unsigned seed) {
  unsigned* const part = table + (seed % 1000) * 16;
  for (int i = 0; i < 16; ++i) part[i] = mix(part[i], seed + (unsigned)i);
  for (int i = 1; i < 16; ++i) {
    const unsigned value = part[i];
    int j = i;
    for (; j > 0 && part[j - 1] > value; --j) part[j] = part[j - 1];
    part[j] = value;
  }
  return part[seed % 16];
}

static void compute(long count) {
  unsigned seed = 1;
  while (count-- > 0) seed = mix(seed, sort_some(seed));
  sink = seed;
}

static void tight(long count) {
  __asm__ volatile(".p2align 6\n1: dec %0\n jnz 1b" : "+r"(count)::"cc");
}

static void syscalls(long count) {
  static const char zero[] = "/dev/zero";
  char buffer[64];
  const long fd = call(kOpen, (long)zero, kReadWrite, 0, 0);
  while (count-- > 0) {
    call(kGetppid, 0, 0, 0, 0);
    call(kRead, fd, (long)buffer, sizeof(buffer), 0);
    call(kWrite, fd, (long)buffer, sizeof(buffer), 0);
  }
}

static void forks(long count) {
  while (count-- > 0) {
    const long child = call(kFork, 0, 0, 0, 0);
    if (child == 0) {
      for (int i = 0; i < 8; ++i) table[i * 1024] = (unsigned)i; /* pages to copy */
      call(kExit, 0, 0, 0, 0);
    }
    call(kWait4, child, 0, 0, 0);
  }
}

/* The program's file is written anew each time: QEMU keeps what it has translated by the page that the code is in, and
   would find it again. */
static void programs(long count) {
  static const char copy[] = "/copy";
  static char program[64 << 10];
  const char* const arguments[] = {copy, 0};
  const long original = call(kOpen, (long)"/short_program", 0, 0, 0);
  const long size = call(kRead, original, (long)program, sizeof(program), 0);
  call(kClose, original, 0, 0, 0);
  while (count-- > 0) {
    const long fd = call(kOpen, (long)copy, kWriteOnly | kCreate | kTruncate, 0700, 0);
    call(kWrite, fd, (long)program, size, 0);
    call(kClose, fd, 0, 0, 0);
    const long child = call(kFork, 0, 0, 0, 0);
    if (child == 0) {
      call(kExecve, (long)copy, (long)arguments, (long)(arguments + 1), 0);
      call(kExit, 1, 0, 0, 0);
    }
    call(kWait4, child, 0, 0, 0);
  }
}

static const struct {
  const char* name;
  void (*run)(long);
} kWorkloads[] = {
    {"compute", compute}, {"syscalls", syscalls}, {"forks", forks}, {"programs", programs}, {"tight", tight}};

/* The count behind the name, or 0 when the line names something else. */
static long count_of(const char* line, const char* name) {
  while (*name != 0 && *line == *name) ++line, ++name;
  if (*name != 0 || *line != ' ') return 0;
  long count = 0;
  for (++line; *line >= '0' && *line <= '9'; ++line) count = count * 10 + (*line - '0');
  return count;
}

static void carry_out(const char* line) {
  for (unsigned i = 0; i < sizeof(kWorkloads) / sizeof(kWorkloads[0]); ++i) {
    const long count = count_of(line, kWorkloads[i].name);
    if (count > 0) kWorkloads[i].run(count);
  }
}

static long read_line(long fd, char* line, long size) {
  long length = 0;
  while (length < size - 1) {
    if (call(kRead, fd, (long)(line + length), 1, 0) != 1) return 0;
    if (line[length] == '\n') break;
    ++length;
  }
  line[length] = 0;
  return length;
}

__attribute__((force_align_arg_pointer, noreturn)) void _start(void) {
  static char line[128] = "done ";
  call(kMount, (long)"dev", (long)"/dev", (long)"devtmpfs", 0);
  const long port = call(kOpen, (long)"/dev/ttyS1", kReadWrite | kNoControllingTerminal, 0, 0);
  static const char ready[] = "overhead: ready\n";
  call(kWrite, 1, (long)ready, sizeof(ready) - 1, 0);
  while (1) {
    const long length = read_line(port, line + 5, sizeof(line) - 6);
    carry_out(line + 5);
    line[5 + length] = '\n';
    call(kWrite, port, (long)line, 6 + length, 0);
  }
}
