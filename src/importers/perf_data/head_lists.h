#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.h"

namespace ringside::importers {

// Lists that stand in the head of a perf.data, in its order.
struct PerfHeadLists {
  struct Event {
    std::string name;             // several may have the same
    std::uint64_t frequency = 0;  // samples a second; 0: each has a fixed period
    std::uint64_t period = 0;     // units of the event between two samples; 0: it has a frequency
  };
  struct BuildId {
    std::vector<std::byte> id;
    std::string path;  // "[kernel.kallsyms]" is the kernel's
  };
  std::vector<Event> events;       // with those that have no samples by their kind
  std::vector<BuildId> build_ids;  // of files with a sample; empty: the file has no such list
};

// Nothing where `bytes` are no perf.data, or one of a pipe, which has no head.
[[nodiscard]] std::optional<PerfHeadLists> read_perf_head_lists(Bytes bytes);

}  // namespace ringside::importers
