#pragma once

#include "core/types.h"

struct Workload {
  const char* name;
  const char* summary;
  const char* const* functions;  // what is measured, in the order of the numbers given to work()
  u32 function_count;
  u32 threads_per_vcpu;
  bool only_vcpu0;
  bool ticks;                 // the scheduler's timer runs
  void (*prepare)();          // once per thread before the steady state; may be null
  void (*round)();            // 1 to 10 ms of work, over and over
  void (*start_processes)();  // instead of threads that call round()
};

extern const Workload chains_workload, recursion_workload, interrupts_workload, user_workload,
    idle_workload, names_workload, skid_workload, lines_workload, masked_workload,
    allocations_workload, copy_workload;

inline constexpr const Workload* all_workloads[] = {
    &chains_workload, &recursion_workload,   &interrupts_workload, &user_workload,
    &idle_workload,   &names_workload,       &skid_workload,       &lines_workload,
    &masked_workload, &allocations_workload, &copy_workload};
