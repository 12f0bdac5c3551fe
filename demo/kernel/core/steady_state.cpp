#include "core/steady_state.h"

#include "arch/instructions.h"
#include "core/command_line.h"
#include "core/console.h"
#include "core/panic.h"
#include "core/report.h"
#include "core/run_state.h"
#include "core/steady_clock.h"
#include "core/thread.h"
#include "sampling/sampling.h"

namespace {

u32 g_expected, g_arrived, g_left;
bool g_started;

}  // namespace

void expect_threads(u32 count) { g_expected = count; }

extern "C" void wait_for_steady_state() {
  if (__atomic_add_fetch(&g_arrived, 1, __ATOMIC_SEQ_CST) == g_expected) {
    const u64 seconds = number_option("seconds", 5);
    print("ringside-demo: ready workload=%s cpus=%u\n", workload().name,
          static_cast<u64>(running_vcpus()));
    start_steady_clock(seconds);
    __atomic_store_n(&g_started, true, __ATOMIC_RELEASE);
  }
  while (!__atomic_load_n(&g_started, __ATOMIC_ACQUIRE)) {
    yield_cpu();
    pause();
  }
}

void leave_steady_state() {
  if (__atomic_add_fetch(&g_left, 1, __ATOMIC_SEQ_CST) == g_expected) {
    finish_sampling();
    print_measurements();
    print("ringside-demo: done\n");
    exit_guest(kExitSuccess);
  }
  exit_thread();
}
