#pragma once

#include "recording/records.h"

namespace ringside::recording {

// Whether the recording was made of what perf wrote.
[[nodiscard]] inline bool is_of_perf(const Header& header) {
  return header.engine.starts_with("perf-");
}

}  // namespace ringside::recording
