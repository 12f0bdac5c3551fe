#pragma once

#include <sys/types.h>

#include "base/fd.h"

namespace ringside::launch {

// A QEMU that is perhaps not our child. Holds the process itself, not its number, which the system
// may give to another one.
class QemuProcess {
 public:
  QemuProcess() = default;
  explicit QemuProcess(pid_t pid);

  // False where it had ended already.
  [[nodiscard]] bool valid() const { return pidfd_.valid(); }
  [[nodiscard]] bool ends_within(int milliseconds) const;
  // The way its user would: SIGTERM makes QEMU shut down in order. If it has not ended after
  // `patience_ms`, it is killed.
  void end(int patience_ms) const;

 private:
  UniqueFd pidfd_;
};

}  // namespace ringside::launch
