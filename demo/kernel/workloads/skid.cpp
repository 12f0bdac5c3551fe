#include "core/measure.h"
#include "workloads/workload.h"

// Many short functions of known cost: where an imprecise sampler charges a neighbour, it shows
// here.

namespace {

constexpr u32 kBlocks = 256;
constexpr u32 kRoundsPerTimedRound = 64;

struct Block {
  void (*run)();
  const char* name;
};
extern "C" const Block skid_blocks[kBlocks];

const char* g_names[kBlocks];
u64 g_empty_span;  // TSC ticks between two readings with nothing in between

}  // namespace

extern "C" void skid_pass() {
  for (const Block& block : skid_blocks) block.run();
}

// A block takes some hundred nanoseconds, reading the TSC nearly as much: only one pass in 64 is
// timed. The first one, with the way to it cold, does not count.
extern "C" void skid_timed_pass() {
  moment();
  skid_blocks[kBlocks - 1].run();
  for (u32 i = 0; i < kBlocks; ++i) {
    const Moment start = moment();
    skid_blocks[i].run();
    const u64 ticks = own_time(start, moment());
    if (ticks > g_empty_span) account_work(i, ticks - g_empty_span, 1);
  }
}

extern "C" void skid_round() {
  for (u32 i = 1; i < kRoundsPerTimedRound; ++i) skid_pass();
  skid_timed_pass();
}

static void prepare() {
  u64 least = ~0ull;
  for (u32 i = 0; i < 10000; ++i) {
    const Moment start = moment();
    const u64 ticks = own_time(start, moment());
    if (ticks < least) least = ticks;
  }
  g_empty_span = least;
  for (u32 i = 0; i < kBlocks; ++i) g_names[i] = skid_blocks[i].name;
}

constinit const Workload skid_workload = {
    .name = "skid",
    .summary = "256 functions of one basic block each, of different cost, called in turn",
    .functions = g_names,
    .function_count = kBlocks,
    .threads_per_vcpu = 1,
    .only_vcpu0 = false,
    .ticks = true,
    .prepare = prepare,
    .round = skid_round,
    .start_processes = nullptr,
};
