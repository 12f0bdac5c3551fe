#include "core/run.h"

#include "arch/apic.h"
#include "arch/clock.h"
#include "arch/instructions.h"
#include "arch/interrupts.h"
#include "core/command_line.h"
#include "core/console.h"
#include "core/measure.h"
#include "core/panic.h"
#include "core/steady_state.h"
#include "core/thread.h"

namespace {

// Prime, so that no sampler's cadence falls in step with it, and low: with more vCPUs than
// processors a vCPU that is stopped while it waits for a processor first takes the tick that has
// become due meanwhile.
constexpr u32 kTicksPerSecond = 19;

const Workload* g_workload;
u32 g_vcpus;
Cpu* g_cpus[kMaxCpus];

void list_workloads() {
  for (const Workload* workload : all_workloads)
    print("%s: %s\n", workload->name, workload->summary);
  exit_guest(kExitSuccess);
}

}  // namespace

void choose_workload(u32 vcpus) {
  char buffer[64];
  const char* name = option("workload", buffer);
  if (!name) name = "chains";
  if (same_text(name, "list")) list_workloads();
  for (const Workload* candidate : all_workloads) {
    if (same_text(name, candidate->name)) g_workload = candidate;
  }
  if (!g_workload) panic("no workload %s", name);
  g_vcpus = vcpus;
  expect_threads((g_workload->only_vcpu0 ? 1 : vcpus) * g_workload->threads_per_vcpu);
}

const Workload& workload() { return *g_workload; }
u32 running_vcpus() { return g_vcpus; }
const Cpu* vcpu(u32 id) { return g_cpus[id]; }

extern "C" void tick_interrupt() {
  const InterruptTime time;
  apic_end_of_interrupt();
  this_cpu().need_resched = 1;
}

extern "C" void worker_main(void*) {
  if (g_workload->prepare) g_workload->prepare();
  wait_for_steady_state();
  while (!time_is_up()) g_workload->round();
  leave_steady_state();
}

void run_vcpu() {
  Cpu& cpu = this_cpu();
  g_cpus[cpu.id] = &cpu;
  if (cpu.id == 0 || !g_workload->only_vcpu0) {
    if (g_workload->start_processes) {
      g_workload->start_processes();
    } else {
      for (u32 i = 0; i < g_workload->threads_per_vcpu; ++i) new_thread(worker_main, nullptr);
    }
    if (g_workload->ticks)
      apic_timer_periodic(kVectorTick, apic_ticks_per_second() / kTicksPerSecond);
  }
  start_scheduler();
}
