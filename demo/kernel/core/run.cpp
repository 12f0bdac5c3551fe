#include "core/run.h"

#include "arch/apic.h"
#include "arch/clock.h"
#include "arch/interrupts.h"
#include "core/measure.h"
#include "core/run_state.h"
#include "core/steady_clock.h"
#include "core/steady_state.h"
#include "core/thread.h"
#include "sampling/sampling.h"

namespace {

// Prime, so that no sampler's cadence falls in step with it, and low: with more vCPUs than
// processors a vCPU that is stopped while it waits for a processor first takes the tick that has
// become due meanwhile.
constexpr u32 kTicksPerSecond = 19;

}  // namespace

extern "C" void tick_interrupt(const SavedRegisters& interrupted) {
  const InterruptTime time;
  apic_end_of_interrupt();
  if (sampling_tick(interrupted)) this_cpu().need_resched = 1;
}

extern "C" void worker_main(void*) {
  const Workload& chosen = workload();
  if (chosen.prepare) chosen.prepare();
  wait_for_steady_state();
  while (!time_is_up()) chosen.round();
  leave_steady_state();
}

void run_vcpu() {
  Cpu& cpu = this_cpu();
  add_vcpu(cpu);
  const Workload& chosen = workload();
  if (is_set_aside(cpu.id)) run_sampler();
  if (cpu.id == 0) start_drain_daemon();
  const bool works = cpu.id == 0 || !chosen.only_vcpu0;
  if (works) {
    if (chosen.start_processes) {
      chosen.start_processes();
    } else {
      for (u32 i = 0; i < chosen.threads_per_vcpu; ++i) new_thread(worker_main, nullptr);
    }
  }
  if (works ? chosen.ticks : samples_by_timer())
    apic_timer_periodic(kVectorTick, timer_count(apic_ticks_per_second() / kTicksPerSecond));
  start_scheduler();
}
