#pragma once

namespace ringside::recording {

// Names of Statistics::counters that are looked up, not only shown.

// How long the guest stood still for reads of its memory and registers outside of ticks.
inline constexpr const char* kMemoryReadPausesCounter = "memory read pauses ns";

}  // namespace ringside::recording
