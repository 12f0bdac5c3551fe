#pragma once

#include "arch/cpu.h"
#include "workloads/workload.h"

// Takes the workload from the command line; prints the list and leaves if that is asked for.
void choose_workload(u32 vcpus);

// Starts this vCPU's threads and never returns.
[[noreturn]] void run_vcpu();

const Workload& workload();
u32 running_vcpus();
const Cpu* vcpu(u32 id);
