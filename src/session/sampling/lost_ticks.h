#pragma once

#include <cstdint>

namespace ringside::session {

// vCPU ticks that were due and gave no sample, by the reason. Each is counted once.
struct LostTicks {
  std::uint64_t stolen = 0;       // the host did not run the vCPU
  std::uint64_t delayed = 0;      // the vCPU had not come to take the sample before
  std::uint64_t late = 0;         // ringside was at the tick before, or not run by the host
  std::uint64_t queue_full = 0;   // unwinding could not keep up
  std::uint64_t ring_full = 0;    // ringside did not take out the plugin's samples in time
  std::uint64_t no_room = 0;      // the guest's own ring was full
  std::uint64_t overwritten = 0;  // in the guest's own ring, before ringside had read it
  std::uint64_t suspended = 0;    // ringside was suspended (Ctrl-Z)
  std::uint64_t failed = 0;       // the engine could not take the tick, or not of that vCPU

  [[nodiscard]] std::uint64_t total() const {
    return stolen + delayed + late + queue_full + ring_full + no_room + overwritten + suspended +
           failed;
  }
};

}  // namespace ringside::session
