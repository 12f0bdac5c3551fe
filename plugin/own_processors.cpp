#include "plugin/own_processors.h"

namespace ringside::plugin {

OwnProcessors::OwnProcessors() {
  if (::sched_getaffinity(0, sizeof(allowed_), &allowed_) != 0) CPU_ZERO(&allowed_);
  used_ = allowed_;
}

void OwnProcessors::leave(const cpu_set_t& taken) {
  cpu_set_t both, rest;
  CPU_AND(&both, &allowed_, &taken);
  CPU_XOR(&rest, &allowed_, &both);
  if (CPU_COUNT(&rest) == 0) rest = allowed_;
  if (CPU_EQUAL(&rest, &used_)) return;
  // Somebody else may have said where QEMU's threads are to run since.
  cpu_set_t now;
  if (::sched_getaffinity(0, sizeof(now), &now) != 0) return;
  if (!CPU_EQUAL(&now, &used_)) {
    allowed_ = used_ = now;
    return;
  }
  if (::sched_setaffinity(0, sizeof(rest), &rest) == 0) used_ = rest;
}

}  // namespace ringside::plugin
