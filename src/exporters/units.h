#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/figures.h"
#include "exporters/sink.h"
#include "profile/profile.h"

// How numbers are written for people.
namespace ringside::exporters {

// "850 ns", "81.2 us", "1.62 s": three digits.
[[nodiscard]] std::string format_duration(std::uint64_t ns);
using ringside::format_count;
using ringside::format_percent;
// format_percent() of a weight, of the extents of all.
[[nodiscard]] std::string format_share(profile::Weight part, std::uint64_t total);
// The colour of a share in a table or a tree, as perf has it: red from 5 %, green from 0.5 %.
[[nodiscard]] std::optional<Colour> colour_of_share(std::uint64_t part, std::uint64_t total);
// "-1,234".
[[nodiscard]] std::string format_weight(profile::Weight weight);
// "ticks", and "tick" of a weight of 1.
[[nodiscard]] std::string_view unit_of(profile::Weight weight, recording::WeightUnit unit);
// "2023-11-14 22:13:20 UTC".
[[nodiscard]] std::string format_time(std::uint64_t wall_ns);
// "2023-11-14", in UTC.
[[nodiscard]] std::string format_date(std::uint64_t wall_ns);

}  // namespace ringside::exporters
