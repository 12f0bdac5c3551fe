#pragma once

#include <optional>
#include <string>

#include "guestos/linux/types/kernel_reader.h"
#include "guestos/linux/types/type_source.h"

namespace ringside::guestos {

// Which control group a task is in, in the unified hierarchy (cgroup v2), as the last line of
// /proc/PID/cgroup has it. Reads return the present state.
class Cgroups {
 public:
  // Nothing where the kernel has none (CONFIG_CGROUPS), or its types do not say.
  [[nodiscard]] static std::optional<Cgroups> of(const TypeSource& types);

  // The task's struct css_set: another one once the task was moved to another group.
  [[nodiscard]] Result<GuestVirt> set_of(GuestVirt task, const KernelReader& read) const {
    return read.pointer(task + sets_.offset);
  }
  // "/" or "/system.slice/ssh.service", from the hierarchy's root. Error kUnreadable or kDisturbed
  // where the guest was changing it; others are those of `memory`.
  [[nodiscard]] Result<std::string> path_of(GuestVirt set, const KernelReader& read) const;

 private:
  Field sets_;    // task_struct.cgroups
  Field group_;   // css_set.dfl_cgrp
  Field node_;    // cgroup.kn
  Field parent_;  // struct kernfs_node
  Field name_;
};

}  // namespace ringside::guestos
