#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ringside::engines::gdb {

// Reports whether a guest ran before we connected to its stub, which stops it: QEMU from 8.1 on
// does not say. To stop a guest that runs QEMU wakes each vCPU's thread, which then sleeps again;
// the threads of a guest that its user had paused sleep on. So the threads' context switches are
// counted before and after.
class RunStateProbe {
 public:
  // Counts now. `process` is QEMU's; 0: nothing will be known.
  explicit RunStateProbe(pid_t process);
  // Whether any of these threads of the process has run since. Nothing where that is not known.
  [[nodiscard]] std::optional<bool> any_has_run(std::span<const pid_t> threads) const;

 private:
  pid_t process_;
  std::map<pid_t, std::uint64_t> switches_;  // of all threads of the process
};

// The thread ids of the monitor's "info cpus": lines such as "* CPU #0: thread_id=4711".
[[nodiscard]] std::vector<pid_t> vcpu_threads(std::string_view info_cpus);

}  // namespace ringside::engines::gdb
