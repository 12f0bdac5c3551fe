#pragma once

namespace ringside::recording {

// Names of Statistics::counters that are looked up, not only shown.

// How long the guest stood still for reads of its memory and registers outside of ticks.
inline constexpr const char* kMemoryReadPausesCounter = "memory read pauses ns";

// How long the guest stood still for the recording, whatever for, and whatever became of it.
inline constexpr const char* kStoodStillCounter = "guest stood still ns";

// Samples that are states of vCPUs which waited for a processor of the host.
inline constexpr const char* kWaitedStatesCounter = "states of vCPUs that waited for the host";

// Processors of the host that ringside could run on. Only where samples were stops of a QEMU on the
// same host, and all of its vCPUs were looked at.
inline constexpr const char* kProcessorsCounter = "host processors";

// Samples whose registers and memory are of different moments, since the guest was not stopped.
inline constexpr const char* kTornCounter = "torn samples";

}  // namespace ringside::recording
