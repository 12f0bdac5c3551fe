#include "core/run_state.h"

#include "arch/instructions.h"
#include "core/command_line.h"
#include "core/console.h"
#include "core/panic.h"

namespace {

const Workload* g_workload;
u32 g_vcpus;
const Cpu* g_cpus[kMaxCpus];

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
}

const Workload& workload() { return *g_workload; }
u32 running_vcpus() { return g_vcpus; }
u32 working_threads() {
  return (g_workload->only_vcpu0 ? 1 : g_vcpus) * g_workload->threads_per_vcpu;
}

void add_vcpu(const Cpu& cpu) { g_cpus[cpu.id] = &cpu; }
const Cpu* vcpu(u32 id) { return g_cpus[id]; }
