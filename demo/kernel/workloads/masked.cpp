#include "arch/instructions.h"
#include "workloads/work.h"
#include "workloads/workload.h"

namespace {

constexpr const char* kFunctions[] = {"drain_queue", "scan_table"};
enum Function : u32 { kDrainQueue, kScanTable };
constexpr u64 kPercent = 20000;  // iterations

}  // namespace

extern "C" void scan_table(u64 n) { work(kScanTable, n); }
CALLS(refresh_table, scan_table)

extern "C" void drain_queue(u64 n) { work(kDrainQueue, n); }
CALLS(flush_queue, drain_queue)

// A timer's interrupt that becomes due meanwhile comes when interrupts are on again.
extern "C" void with_queue_locked(u64 n) {
  disable_interrupts();
  flush_queue(n);
  enable_interrupts();
}

extern "C" void masked_round() {
  with_queue_locked(40 * kPercent);
  refresh_table(60 * kPercent);
}

constinit const Workload masked_workload = {
    .name = "masked",
    .summary = "40 percent with interrupts off, 60 percent with interrupts on",
    .functions = kFunctions,
    .function_count = 2,
    .threads_per_vcpu = 1,
    .only_vcpu0 = false,
    .ticks = true,
    .prepare = nullptr,
    .round = masked_round,
    .start_processes = nullptr,
};
