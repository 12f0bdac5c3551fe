// Goes through code of a C library in several ways, over and over: by callbacks, signals, system
// calls, the kernel's vDSO. Linked to several libraries by libc_calls.py, which knows who calls whom.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

// Counting behind a call keeps the call from becoming a jump.
static volatile unsigned long sink;
static int zeros;

NOINLINE void spin(int turns) {
  for (int i = 0; i < turns; ++i) ++sink;
}

NOINLINE void on_alarm(int number) {
  spin(number * 10000);
  ++sink;
}

NOINLINE int compare(const void* a, const void* b) {
  spin(2000);
  ++sink;
  return *(const int*)a - *(const int*)b;
}

NOINLINE void sort_all(void) {
  int numbers[] = {5, 2, 8, 1, 9, 4, 7, 3, 6, 0};
  qsort(numbers, sizeof numbers / sizeof *numbers, sizeof *numbers, compare);
  ++sink;
}

NOINLINE void read_zeros(void) {
  static char buffer[1 << 20];
  if (read(zeros, buffer, sizeof buffer) < 0) abort();
  ++sink;
}

NOINLINE void format_all(void) {
  static char text[200];
  for (int i = 0; i < 100; ++i) snprintf(text, sizeof text, "%d %s %x", i, "text", i);
  ++sink;
}

NOINLINE void copy_all(void) {
  static char from[1 << 16], to[1 << 16];
  for (int i = 0; i < 30; ++i) memcpy(to, from, sizeof from - (sink & 1));
  ++sink;
}

// The vDSO needs no counter of the processor for that clock, so that it never calls the kernel.
NOINLINE void ask_time(void) {
  struct timespec now;
  for (int i = 0; i < 5000; ++i) clock_gettime(CLOCK_REALTIME_COARSE, &now);
  sink += (unsigned long)now.tv_sec;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  struct itimerval often = {{0, 20000}, {0, 20000}};
  zeros = open("/dev/zero", O_RDONLY);
  sigaction(SIGALRM, &action, 0);
  setitimer(ITIMER_REAL, &often, 0);
  for (;;) {
    sort_all();
    read_zeros();
    format_all();
    copy_all();
    ask_time();
  }
}
