#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace ringside::importers::perf_script {

// The lines in front of the samples where `perf script --header` wrote them, such as
// "# hostname : vm" (tools/perf/util/header.c).
struct Comments {
  std::string host;
  Arch arch = Arch::kUnknown;
  std::uint32_t cpus = 0;
  std::vector<std::string> command_line;  // of perf record
  std::uint64_t wall_ns = 0;              // when it was recorded, by the clock of this host's zone
  std::uint64_t interval_ns = 0;          // of the first event, where it has a frequency
  void take(std::string_view line);
};

}  // namespace ringside::importers::perf_script
