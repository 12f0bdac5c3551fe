#pragma once

#include "arch/cpu.h"
#include "workloads/workload.h"

// The workload of this run, and the vCPUs that execute it.

// Takes the workload from the command line; prints the list and leaves if that is asked for.
void choose_workload(u32 vcpus);

const Workload& workload();
u32 running_vcpus();
// The threads of all vCPUs that do the workload's work.
u32 working_threads();

// Registers the vCPU that runs, under its id.
void add_vcpu(const Cpu& cpu);
// Null before add_vcpu.
const Cpu* vcpu(u32 id);
