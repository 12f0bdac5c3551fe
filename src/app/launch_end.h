#pragma once

#include <optional>

#include "base/result.h"

namespace ringside::app {

// The end of the command that ringside was to start, for its own exit status.
struct LaunchEnd {
  // A recording began, or QEMU ended before one could.
  bool could_record = false;
  // How QEMU, or the command that was to start it, ended by itself, as a shell has it: its exit
  // status, or 128 and the number of the signal that killed it. Absent where ringside or Ctrl-C
  // ended it, and where it runs on.
  std::optional<int> by_itself;
};

// The exit status of a verb that starts QEMU and ends with `result`:
//   QEMU's own, unless that is 0;
//   0: done; 1: it recorded nothing, or not all; 125: it could not record; 2: wrong usage.
[[nodiscard]] int exit_status(const Result<void>& result, const LaunchEnd& end);

}  // namespace ringside::app
