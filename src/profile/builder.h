#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/frame_namer.h"
#include "profile/profile.h"
#include "recording/reader.h"

namespace ringside::profile {

// Which samples of a recording a profile is made of. The samples left out are counted.
struct Filter {
  std::vector<VcpuId> vcpus;  // empty: all
  bool kernel_only = false;   // of the sampled, only those in the kernel (firmware is in neither)
  bool user_only = false;     // of the sampled, only those in user code
  // Among the sampled, only those of these processes and threads: by name as reports show it, and
  // by number. Empty: all. Idle vCPUs belong to nobody and stay.
  std::vector<std::string> comms;
  std::vector<std::uint32_t> pids;
  std::vector<std::uint32_t> tids;
  std::uint64_t from_ns = 0;  // times since the start of the recording, [from, to)
  std::uint64_t to_ns = std::numeric_limits<std::uint64_t>::max();

  [[nodiscard]] bool has_time(std::uint64_t time_ns) const {
    return time_ns >= from_ns && time_ns < to_ns;
  }
  [[nodiscard]] bool is_of_some_time() const {
    return from_ns != 0 || to_ns != std::numeric_limits<std::uint64_t>::max();
  }
};

struct BuildOptions {
  Filter filter;
  bool show_addresses = false;  // append each frame's address to its name
  bool show_lines = false;      // append each frame's source line to its name, where it is known
  // Frames have perf's name of their place in the source, and are told apart by it: the line of the
  // address, or of the call of what is inlined there. "file.c:12", else "symbol+34", else none.
  bool source_lines = false;
  // Interrupts stand over what they interrupted. Else they are charged to nobody: the frames from
  // the leaf to the interrupt's entry are a stack of their own, of kInterruptName.
  bool join_interrupts = true;
  // Samples of different spans of time are told apart, each of this length; 0: none are. Spans
  // begin with the recording, or where it is perf's with the clock of the host.
  std::uint64_t span_ns = 0;
  std::size_t most_spans = 1'000'000;  // with samples
  // Which sources' samples, by name; empty: the first source's.
  std::vector<std::string> sources;
  // Every source's where `sources` is empty, whatever the units of its values: for a
  // DetailedProfile.
  bool every_source = false;
  // Which of their values, by name; empty: the first one.
  std::string value;
};

// Aggregates the samples of a recording, then names each distinct frame once. Memory grows with the
// number of distinct stacks, of processes that they are of, and of spans of time that these are in.
// Errors: there is no such source or value, with the list of those that there are; the sources'
// values have several units; there are more spans than `most_spans`, with a length of fewer.
[[nodiscard]] Result<Profile> build_profile(recording::Reader& reader, FrameNamer& namer,
                                            const BuildOptions& options = {});

}  // namespace ringside::profile
