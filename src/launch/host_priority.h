#pragma once

#include <sys/types.h>

#include <map>
#include <optional>

#include "base/result.h"

namespace ringside::launch {

// Gives a process more of the host's processors while this lives: the nice value of its threads,
// and of threads that they make, and that of its session's group of tasks (autogroup, sched(7)),
// which shares the processors with other groups first. Both are kNice then; at the end they are as
// they were before. A control group's weight is left alone.
class HostPriority {
 public:
  static constexpr int kNice = -12;

  // Error kUnsupported: this process may not (CAP_SYS_NICE, RLIMIT_NICE).
  [[nodiscard]] static Result<void> check();

  // A value that cannot be changed stays as it is.
  explicit HostPriority(pid_t process);
  ~HostPriority();
  HostPriority(const HostPriority&) = delete;
  HostPriority& operator=(const HostPriority&) = delete;

  // Whether any thread's value was changed.
  [[nodiscard]] bool is_raised() const { return is_raised_; }
  // Whether the group's value was changed: Linux may have no such groups, or a control group's
  // weight counts instead.
  [[nodiscard]] bool has_group() const { return group_before_.has_value(); }

 private:
  pid_t process_;
  std::map<pid_t, int> before_;  // nice values by thread
  bool is_raised_ = false;
  std::optional<int> group_before_;
};

}  // namespace ringside::launch
