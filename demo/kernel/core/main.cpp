#include "arch/apic.h"
#include "arch/clock.h"
#include "arch/cpu.h"
#include "arch/interrupts.h"
#include "core/command_line.h"
#include "core/console.h"
#include "core/panic.h"
#include "core/run.h"
#include "core/run_state.h"
#include "core/smp.h"
#include "core/steady_state.h"
#include "sampling/sampling.h"

extern "C" void kernel_main(u64 start_info) {
  read_command_line(start_info);
  mask_legacy_interrupt_controllers();
  fill_interrupt_table();
  load_cpu(new_cpu(0));
  apic_enable();
  calibrate_clocks();

  u32 vcpus = vcpu_count();
  const u64 wanted = number_option("cpus", vcpus);
  if (wanted >= 1 && wanted < vcpus) vcpus = static_cast<u32>(wanted);
  if (vcpus > kMaxCpus) vcpus = kMaxCpus;
  choose_sampling(vcpus);
  const u32 working = vcpus_for_work(vcpus);
  choose_workload(working);
  if (samples_by_timer() && !workload().ticks) panic("%s uses the timer itself", workload().name);
  start_sampling(working);
  expect_threads(working_threads());
  start_secondary_vcpus(vcpus);
  run_vcpu();
}
