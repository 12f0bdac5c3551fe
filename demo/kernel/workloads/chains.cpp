#include "workloads/chain_functions.h"
#include "workloads/workload.h"

// Two threads a vCPU, so that they preempt each other; both do the same, so it does not matter who
// runs.
constinit const Workload chains_workload = {
    .name = "chains",
    .summary = "three functions, 50/30/20 percent, under call chains 3 to 12 deep",
    .functions = kChainFunctions,
    .function_count = 3,
    .threads_per_vcpu = 2,
    .only_vcpu0 = false,
    .ticks = true,
    .prepare = nullptr,
    .round = chains_round,
    .start_processes = nullptr,
};
