#pragma once

#include <cstdint>

#include "base/result.h"
#include "engines/engine.h"

namespace ringside::engines::gdb {

// The stops of the guest that reads need outside of ticks: whatever stops the guest for a read asks
// here first, and says afterwards how long it took.
//
// All of them together have a share of the time: after each stop the guest runs for three times as
// long, or for as long where nothing samples it.
class ReadStops {
 public:
  // Waits until the guest may be stopped. Errors: those of ReadTurns::wait().
  [[nodiscard]] Result<void> wait();
  // Counts one, since a monotonic time, and of a length in nanoseconds.
  void count(std::uint64_t since_ns, std::uint64_t length_ns);

  [[nodiscard]] const MemoryPauses& pauses() const { return pauses_; }
  // Null: nothing samples the guest.
  void set_turns(ReadTurns* turns) { turns_ = turns; }

 private:
  ReadTurns* turns_ = nullptr;
  ReadStop last_;
  MemoryPauses pauses_;
};

}  // namespace ringside::engines::gdb
