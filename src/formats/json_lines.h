#pragma once

#include <array>
#include <string_view>

// Words in ringside's own JSON Lines, in the order of the enumerations that they stand for.
namespace ringside::formats::json_lines {

using Words = std::array<std::string_view, 5>;

inline constexpr std::array<std::string_view, 6> kFrameKinds = {"kernel",   "user",  "interrupt",
                                                                "firmware", "guest", "code"};
inline constexpr Words kSourceKinds = {"cpu", "off-cpu", "allocations", "probe", "other"};
inline constexpr Words kClockKinds = {"host", "guest time", "guest counter", "instructions",
                                      "event number"};
inline constexpr Words kFieldTypes = {"integer", "address", "text", "bytes", "symbol"};
inline constexpr Words kLevels = {"unknown", "kernel", "user", "firmware", "guest"};

// The stop of a stack that stood in a damaged block.
inline constexpr std::string_view kLost = "lost";

// A counter of statistics, as recording::kLostByPrefix has them: ticks whose lines are not there.
inline constexpr const char* kLostToDamage = "lost, in damaged lines";

}  // namespace ringside::formats::json_lines
