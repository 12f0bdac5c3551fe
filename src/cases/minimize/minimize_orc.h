#pragma once

#include <span>
#include <vector>

#include "cases/minimize/minimize_cfi.h"

namespace ringside::cases {

// Linux's ORC tables of some code only: the rows that hold somewhere in `ranges` (sorted, apart
// from each other), and the row behind each range. Both sections keep their addresses and the
// format of their rows, whichever that is.
struct OrcTables {
  std::vector<std::byte> ips;   // .orc_unwind_ip: addresses relative to their own place
  std::vector<std::byte> rows;  // .orc_unwind
};
[[nodiscard]] OrcTables minimize_orc(const elf::Section& ips, const elf::Section& rows,
                                     std::span<const CodeRange> ranges);

}  // namespace ringside::cases
