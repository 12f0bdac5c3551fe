#pragma once

#include <cstdint>

namespace ringside::engines::gdb {

// For tests of what happens to the guest when ringside is killed: RINGSIDE_DEBUG_HOLD names a state
// in which the 20th tick stays for ever.
enum class HoldPoint {
  kNone,
  kRunning,     // the guest runs, nothing is under way
  kStopped,     // the guest stands, its stop reply has been read
  kHalfPacket,  // the guest stands, and half a request has been written
};

inline constexpr std::uint64_t kHeldTick = 20;

// What the environment asks for.
[[nodiscard]] HoldPoint hold_point_from_environment();

// Writes one line that names the state to standard error, and never returns.
[[noreturn]] void hold_for_ever(HoldPoint point);

}  // namespace ringside::engines::gdb
