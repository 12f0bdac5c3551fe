// The program of user_process_test.cpp: comes to an int3 in places to which a walk leads through
// code that is not its own. With PLUGIN it opens the library whose path it is given.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile int sink;

NOINLINE void checkpoint(void) {
  __asm__ volatile("int3");
  ++sink;
}

static void on_signal(int number) {
  (void)number;
  checkpoint();
  ++sink;
}

// A function whose first instruction is interrupted: the one before it belongs to another.
__attribute__((naked, noinline)) void faults_at_once(void) { __asm__("ud2; ret"); }

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)info;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2;
  checkpoint();
  ++sink;
}

static int compare(const void* a, const void* b) {
  if (sink == 0) raise(SIGUSR1);
  ++sink;
  return *(const int*)a - *(const int*)b;
}

NOINLINE void sort_all(void) {
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof(int), compare);
  ++sink;
}

static void at_exit(void) {
  checkpoint();
  ++sink;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on_signal};
  struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGUSR1, &action, 0);
  sigaction(SIGILL, &fault, 0);
  atexit(at_exit);
  sort_all();
  faults_at_once();
#ifdef PLUGIN
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
  void (*call)(void (*)(void)) = plugin ? (void (*)(void (*)(void)))dlsym(plugin, "plugin_call") : 0;
  if (!call) return 2;
  call(checkpoint);
#else
  (void)argc, (void)argv;
#endif
  return 0;
}
