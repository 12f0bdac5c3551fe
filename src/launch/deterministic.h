#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/qemu/qemu_command.h"

namespace ringside::launch {

// Makes the guest's time and random numbers the same in each run (docs/system/replay.rst and
// qemu-options.hx of QEMU 9.2): instructions are the clock (-icount shift=1,sleep=off: 2 ns each,
// and an idle guest's time jumps), the date is fixed (-rtc base=…,clock=vm), random numbers come
// from `seed` (-seed), and a network card that nobody asked for is left out (-nic none).
//
// Where the command line records a run or replays one (-icount …,rr=record or rr=replay), nothing
// is added but a shift, where none is given.
//
// Error kUnsupported where the command line asks for what cannot be: KVM, more than one vCPU,
// thread=multi, -icount with another clock.
struct Determinism {
  // A sentence each, also on what may still differ between two runs: network, disks and other
  // devices whose answers come by the host's time, and what somebody types.
  std::vector<std::string> warnings;
  bool follows_host = false;  // something may differ between two runs, or the run is a recorded one
};
[[nodiscard]] Result<Determinism> make_deterministic(QemuCommand& command,
                                                     const std::string& accelerator,
                                                     std::uint64_t seed);

// Whether QEMU records the run or replays one: -icount …,rr=record or rr=replay
// (docs/system/replay.rst).
[[nodiscard]] bool records_or_replays(const QemuCommand& command);

// Nanoseconds of guest time that an instruction takes by -icount shift=N; 0 without.
[[nodiscard]] std::uint64_t instruction_ns(const QemuCommand& command);

}  // namespace ringside::launch
