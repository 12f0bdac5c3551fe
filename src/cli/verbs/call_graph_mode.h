#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringside::cli {

// The mode of `report -g MODE`, in perf's words: "caller,0.5,10", "none".
struct CallGraphMode {
  bool is_wanted = true;
  std::optional<bool> callees;            // perf's "caller": what a row calls; else who calls it
  std::optional<double> minimum_percent;  // of all samples
  std::uint32_t most_siblings = 0;        // 0: all
};

// Error kUsage, with what is possible: a word that perf does not have, or one of its ways to print
// that ringside does not have.
[[nodiscard]] Result<CallGraphMode> parse_call_graph_mode(const std::string& text);

// Whether `word`, behind a -g, is its mode and not the name of a file.
[[nodiscard]] bool is_call_graph_mode(std::string_view word);

}  // namespace ringside::cli
