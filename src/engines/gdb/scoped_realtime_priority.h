#pragma once

#include <optional>

#include "base/scheduling.h"
#include "engines/gdb/protocol/stub.h"

namespace ringside::engines::gdb {

// While it lives, QEMU's main loop and the calling thread are scheduled before ordinary threads, if
// that is allowed: a stop of the guest lasts as long as somebody else has their processor, which on
// a busy host is milliseconds. The guardian undoes it for QEMU's thread if ringside dies.
class ScopedRealtimePriority {
 public:
  // `stub_thread`: 0 where it is not known.
  ScopedRealtimePriority(Stub& stub, pid_t stub_thread)
      : stub_(&stub),
        ours_(schedule_first(0)),
        theirs_(stub_thread > 0 ? schedule_first(stub_thread) : std::nullopt) {
    if (theirs_) stub_->restore_on_death(theirs_);
  }
  ~ScopedRealtimePriority() {
    if (ours_) restore_scheduling(*ours_);
    if (!theirs_) return;
    restore_scheduling(*theirs_);
    stub_->restore_on_death(std::nullopt);
  }
  ScopedRealtimePriority(const ScopedRealtimePriority&) = delete;
  ScopedRealtimePriority& operator=(const ScopedRealtimePriority&) = delete;

 private:
  Stub* stub_;
  std::optional<Scheduling> ours_;
  std::optional<Scheduling> theirs_;
};

}  // namespace ringside::engines::gdb
