#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "wire/ring.h"

namespace ringside::plugin {

// Format of the file that a plugin without ringside writes.
enum class OutFormat {
  kRingside,  // registers and stacks, which ringside unwinds later (wire/sample_file.h)
  kMaestro,   // addresses that a walk along the frame pointers has found: Maestro's own layout
};

// Options of a plugin that samples without ringside.
struct StandAlone {
  std::string out = "qemu-profile";
  OutFormat format = OutFormat::kRingside;
  std::uint64_t interval = 0;        // nanoseconds or instructions, by the clock
  std::uint64_t start_after_ns = 0;  // before the first sample
  std::uint32_t stack_bytes = 2048;
  std::vector<VcpuId> cpus;  // empty: all
};

// -plugin libringside-tcg.so,NAME=VALUE,…
struct Arguments {
  std::string ring;                       // the file to share with ringside, or …
  std::optional<StandAlone> stand_alone;  // … without one
  wire::RingClock clock = wire::RingClock::kHostTime;
  bool wait = false;  // for ringside, before the first instruction
};

// Says on standard error what is wrong, in one line, and returns nothing.
[[nodiscard]] std::optional<Arguments> parse_arguments(int count, char** arguments);

}  // namespace ringside::plugin
