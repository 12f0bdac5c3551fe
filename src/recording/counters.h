#pragma once

namespace ringside::recording {

// Names of Statistics::counters that are looked up, not only shown.

// How long the guest stood still for reads of its memory and registers outside of ticks.
inline constexpr const char* kMemoryReadPausesCounter = "memory read pauses ns";

// Samples whose registers and memory are of different moments, since the guest was not stopped.
inline constexpr const char* kTornCounter = "torn samples";

}  // namespace ringside::recording
