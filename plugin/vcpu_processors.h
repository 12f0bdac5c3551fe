#pragma once

#include <sched.h>

#include <cstdint>

namespace ringside::plugin {

// Keeps a thread that is late too often on the processors where vCPUs run. Linux shares a processor
// among groups of tasks (control groups, or sessions), and gives a group on each as much as it uses
// there: on a busy host a thread that is apart from its group's busy threads waits, and beside one
// it runs at once. There it takes the processor from the vCPU for a moment, so it is let free again
// now and then.
class VcpuProcessors {
 public:
  // In the thread, which it is about. It changes nothing on a host that has more processors than a
  // cpu_set_t.
  VcpuProcessors();
  // In the same thread, at each tick. `missed`: so many came due before this one and were not
  // given. `running`: where the vCPUs that run did so last. The user's own choice meanwhile of
  // where the thread may run stays.
  void tick(std::uint64_t now_ns, std::uint64_t missed, const cpu_set_t& running);

 private:
  [[nodiscard]] bool follows(std::uint64_t now_ns, std::uint64_t missed);
  void use(const cpu_set_t& wanted);

  cpu_set_t allowed_{};
  cpu_set_t used_{};
  std::uint64_t given_ = 0;  // since counting began
  std::uint64_t missed_ = 0;
  std::uint64_t counted_from_ns_ = 0;
  std::uint64_t follows_until_ns_ = 0;
};

}  // namespace ringside::plugin
