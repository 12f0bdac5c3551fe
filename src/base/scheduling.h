#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

namespace ringside {

// How the host scheduled a thread before it was changed. A plain value, so that it can lie in
// shared memory.
struct Scheduling {
  pid_t thread = 0;
  int policy = 0;
  int priority = 0;
};

// Processors that the calling thread may run on.
[[nodiscard]] std::size_t processors();

// True where as many busy vCPUs as these do not leave two processors free: for the thread that
// stops them and for the one that asks for it.
[[nodiscard]] bool host_is_crowded(std::size_t vcpus);

// Lets a thread run before all ordinary ones (SCHED_RR, lowest priority); 0 is the calling thread.
// Nothing, and no change, where the system does not allow it (that takes CAP_SYS_NICE or
// RLIMIT_RTPRIO) or the thread is no ordinary one already. Children do not inherit it.
[[nodiscard]] std::optional<Scheduling> schedule_first(pid_t thread);

// Undoes schedule_first(); without CAP_SYS_NICE the thread keeps SCHED_RESET_ON_FORK, which for an
// ordinary thread only means that its children do not inherit a negative nice value.
// Async-signal-safe.
void restore_scheduling(const Scheduling& before);

}  // namespace ringside
