#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/result.h"
#include "profile/frame_namer.h"
#include "profile/profile.h"
#include "recording/reader.h"

namespace ringside::profile {

// Which samples of a recording a profile is made of. What is left out is counted.
struct Filter {
  std::vector<VcpuId> vcpus;  // empty: all
  bool kernel_only = false;   // of the sampled, only those in the kernel (firmware is in neither)
  bool user_only = false;     // of the sampled, only those in user code
  std::uint64_t from_ns = 0;  // times since the start of the recording, [from, to)
  std::uint64_t to_ns = std::numeric_limits<std::uint64_t>::max();
};

struct BuildOptions {
  Filter filter;
  bool show_addresses = false;  // append each frame's address to its name
  bool show_lines = false;      // append each frame's source line to its name, where it is known
  recording::WeightUnit unit = recording::WeightUnit::kTicks;
};

// Aggregates the samples of a recording, then names each distinct frame once. Memory grows with the
// number of distinct stacks.
[[nodiscard]] Result<Profile> build_profile(recording::Reader& reader, FrameNamer& namer,
                                            const BuildOptions& options = {});

}  // namespace ringside::profile
