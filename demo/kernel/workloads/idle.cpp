#include "workloads/chain_functions.h"
#include "workloads/workload.h"

// The other vCPUs have no thread and no timer: they stay in hlt.
constinit const Workload idle_workload = {
    .name = "idle",
    .summary = "vCPU 0 does what `chains` does, all others are halted",
    .functions = kChainFunctions,
    .function_count = 3,
    .threads_per_vcpu = 1,
    .only_vcpu0 = true,
    .ticks = true,
    .prepare = nullptr,
    .round = chains_round,
    .start_processes = nullptr,
};
