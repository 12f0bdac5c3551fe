#include "workloads/work.h"
#include "workloads/workload.h"

// One function whose time is in three of its source lines, one of them of a function that is
// inlined into it. The line of each loop says what part of the time it takes: tests read that.

namespace {

enum : u32 { kMixedLines };
constexpr const char* kFunctions[] = {"mixed_lines"};

constexpr u64 kPercent = 8000;  // iterations

INLINE void sift_line(u64 n) {
  SPIN(n);  // 20 %
}

}  // namespace

// `n` is a multiple of 10.
extern "C" void mixed_lines(u64 n) {
  const u64 tenth = n / 10;
  u64 left = 5 * tenth;
  SPIN(left);  // 50 %
  left = 3 * tenth;
  SPIN(left);  // 30 %
  sift_line(2 * tenth);
}

extern "C" void lines_round() { call_leaf<mixed_lines>(kMixedLines, 100 * kPercent); }

constinit const Workload lines_workload = {
    .name = "lines",
    .summary = "one function with 50, 30 and 20 percent of the time in three lines",
    .functions = kFunctions,
    .function_count = 1,
    .threads_per_vcpu = 1,
    .only_vcpu0 = false,
    .ticks = true,
    .prepare = nullptr,
    .round = lines_round,
    .start_processes = nullptr,
};
