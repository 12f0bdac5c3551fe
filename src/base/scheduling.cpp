#include "base/scheduling.h"

#include <sched.h>

namespace ringside {

std::size_t processors() {
  cpu_set_t mine;
  // It fails where the host has more than a set holds.
  if (::sched_getaffinity(0, sizeof(mine), &mine) != 0) return CPU_SETSIZE;
  return static_cast<std::size_t>(CPU_COUNT(&mine));
}

bool host_is_crowded(std::size_t vcpus) { return vcpus + 2 > processors(); }

std::optional<Scheduling> schedule_first(pid_t thread) {
  sched_param before{};
  const int policy = ::sched_getscheduler(thread);
  // The flag may be left from an earlier restore_scheduling().
  if (policy < 0 || (policy & ~SCHED_RESET_ON_FORK) != SCHED_OTHER ||
      ::sched_getparam(thread, &before) != 0)
    return std::nullopt;
  sched_param first{};
  first.sched_priority = ::sched_get_priority_min(SCHED_RR);
  if (::sched_setscheduler(thread, SCHED_RR | SCHED_RESET_ON_FORK, &first) != 0)
    return std::nullopt;
  return Scheduling{thread, policy, before.sched_priority};
}

void restore_scheduling(const Scheduling& before) {
  sched_param parameters{};
  parameters.sched_priority = before.priority;
  if (::sched_setscheduler(before.thread, before.policy, &parameters) == 0) return;
  // Who has SCHED_RR through RLIMIT_RTPRIO only may not clear this flag (sched_setscheduler(2)).
  ::sched_setscheduler(before.thread, before.policy | SCHED_RESET_ON_FORK, &parameters);
}

}  // namespace ringside
