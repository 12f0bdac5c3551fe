#include "core/report.h"

#include "arch/cpu.h"
#include "core/console.h"
#include "core/run_state.h"
#include "core/steady_clock.h"
#include "core/thread.h"
#include "process/process.h"

namespace {

u64 hundredths_of_percent(u64 part, u64 whole) { return (part * 10000 + whole / 2) / whole; }

void print_vcpu(const Cpu& cpu, u64 elapsed) {
  const u64 vcpu = cpu.id;
  u64 total = 0;
  for (u64 ticks : cpu.measured.ticks) total += ticks;
  if (!total) return;
  for (u32 i = 0; i < workload().function_count; ++i) {
    if (!cpu.measured.calls[i]) continue;
    print("ringside-demo: measured vcpu=%u function=%s share=%p calls=%u\n", vcpu,
          workload().functions[i], hundredths_of_percent(cpu.measured.ticks[i], total),
          cpu.measured.calls[i]);
  }
  print("ringside-demo: spans vcpu=%u timed=%u disturbed=%u covered=%p\n", vcpu, cpu.measured.spans,
        cpu.measured.disturbed_spans, hundredths_of_percent(total, elapsed));
  for (u32 i = 0; i < cpu.thread_count; ++i) {
    const Process* process = cpu.threads[i]->process;
    if (!process) continue;
    print("ringside-demo: process vcpu=%u pid=%u name=%s share=%p units=%u\n", vcpu, process->pid,
          process->name, hundredths_of_percent(process->ticks, total), cpu.threads[i]->units);
  }
}

}  // namespace

void print_measurements() {
  const u64 elapsed = steady_state_ticks();
  for (u32 id = 0; id < running_vcpus(); ++id) {
    if (const Cpu* cpu = vcpu(id)) print_vcpu(*cpu, elapsed);
  }
}
