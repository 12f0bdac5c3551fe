#pragma once

#include "sampling/saved_registers.h"

// The kernel samples itself, into the rings of ringside's guest library or into rings as Redox'
// kernel has them, if its command line says so. demo/README.md has the options.

// Reads the command line. To be called first; panics where it makes no sense.
void choose_sampling(u32 vcpus);

// vCPUs that run the workload: all but one that is set aside.
u32 vcpus_for_work(u32 vcpus);

// Makes the rings of `sampled` vCPUs and begins. Nothing without sampling=.
void start_sampling(u32 sampled);

// Whether this vCPU is the one that sends NMIs; it is run by run_sampler().
bool is_set_aside(u32 vcpu);
[[noreturn]] void run_sampler();

bool samples_by_timer();
// The count of the local APIC's timer between two ticks, where the scheduler alone would want
// `scheduler_count`: its ticks are among the sampler's.
u32 timer_count(u32 scheduler_count);
// A timer's tick has interrupted code. Returns whether it is one for the scheduler.
bool sampling_tick(const SavedRegisters& interrupted);

// The daemon that drains rings, where there is one: to be called once, before other threads.
void start_drain_daemon();
// Switches sampling off and drains what is left. To be called once, at the end.
void finish_sampling();
