#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/registers.h"
#include "base/types.h"

namespace ringside::engines::gdb::testing {

// A register and what the human monitor's `info registers` calls it.
struct MonitorName {
  std::uint8_t id;
  std::string label;
};
[[nodiscard]] std::vector<MonitorName> monitor_names(Arch arch);

// The value behind a label, as in "EAX=11aa0000", "CS =0008 …" or "x1/ra    0000000000011001".
[[nodiscard]] std::optional<std::uint64_t> monitor_value(std::string_view text,
                                                         std::string_view label);

// A value that a program of testdata/loops puts into a register that the monitor does not show.
struct Constant {
  std::uint8_t id;
  std::uint64_t value;
};
[[nodiscard]] std::vector<Constant> loop_constants(Arch arch);

}  // namespace ringside::engines::gdb::testing
