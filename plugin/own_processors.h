#pragma once

#include <sched.h>

namespace ringside::plugin {

// Keeps a thread off the processors where vCPUs run, as long as it may use others. A thread that
// wakes takes its processor from the one that runs there, and when it sleeps again a busy host may
// give it to a third: the vCPU would wait at each tick, because of the tick.
class OwnProcessors {
 public:
  // In the thread, which it is about. It knows nothing, and changes nothing, on a host that has
  // more processors than a cpu_set_t.
  OwnProcessors();
  // In the same thread. Goes back to all that it may use where vCPUs run on all of them.
  void leave(const cpu_set_t& taken);

 private:
  cpu_set_t allowed_{};
  cpu_set_t used_{};
};

}  // namespace ringside::plugin
