#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/types.h"

namespace ringside::session {

// How to sample. Times are nanoseconds.
struct SamplingOptions {
  std::uint64_t interval_ns = 10'000'000;
  std::uint64_t delay_ns = 0;                // after the start, before the first tick
  std::optional<std::uint64_t> duration_ns;  // from the first tick on, also of a paused guest
  bool starts_paused = false;                // … but not before the guest has first run
  // The end, where neither is met any more. Stacks, all vCPUs together; idle vCPUs give none.
  std::optional<std::uint64_t> samples;
  std::optional<std::uint64_t> rounds;  // ticks of each vCPU, idle or not
  bool kernel = true;
  bool user = true;
  // Samples of halted vCPUs, where an engine stops the guest. Else, and where vCPUs sample
  // themselves, those are idle.
  bool halted = false;
  // Each sample is the state of its vCPU, and none in shares (engines::TickPlan::states).
  bool states = false;
  // One state of each vCPU, and the end when there is one (OneShot).
  bool one_shot = false;
  std::vector<VcpuId> vcpus;  // empty: all
  bool jitter = true;
  std::uint64_t seed = 1;
  std::uint32_t stack_bytes = 2048;  // copied of each stack, to begin with
  bool adapt_stack_bytes = true;
  // Every sample waits until all that follows from the one before has been done: with an engine
  // that counts instructions two runs of one guest give the same samples.
  bool deterministic = false;
  // Set where the engine plays what was sampled before, from this host time on: time is that of the
  // samples then. With `deterministic`, so that nothing is lost.
  std::optional<std::uint64_t> replay_start_ns;
  std::uint64_t instruction_ns = 1;  // of guest time, where the engine counts instructions
  bool keep_captures = false;        // store what samples were unwound from beside them
};

inline constexpr std::uint64_t kShortestIntervalNs = 100'000;

}  // namespace ringside::session
