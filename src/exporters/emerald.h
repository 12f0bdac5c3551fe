#pragma once

#include <string>

#include "exporters/sink.h"
#include "profile/profile.h"

// Formats of Emerald's own profiler (xtask/src/profiler.rs at 638efb36), for its users: samples of
// the kernel and of user code are stacks of their own, by where the pc was.
namespace ringside::exporters {

// "Kernel;outermost;…;leaf WEIGHT" and "User PID=7 (program);outermost;…;leaf WEIGHT", sorted by
// the bytes of the stack; "Firmware;…" for what ran before a kernel. A process without a name is
// "<unknown>", a sample without a process "User PID=?".
[[nodiscard]] Result<void> write_emerald_folded(const profile::Profile& profile, Sink& sink);

// The statistics that it prints at its end; with `top` the ten most frequent stacks, too. Samples
// that --kernel-only and --user-only leave out are not failed ones.
[[nodiscard]] Result<void> write_emerald_statistics(const profile::Profile& profile, bool top,
                                                    Sink& sink);

// Its lines about folded stacks that were written to the file `path`.
[[nodiscard]] Result<void> write_emerald_outcome(const profile::Profile& profile,
                                                 const std::string& path, Sink& sink);

// The stack of each vCPU, as it prints that of its one: "Current stack trace (took 1.5ms)
// (kernel):" and the frames, the leaf first. It took as long as the guest stood still. With several
// vCPUs each head line has a line "vCPU N" in front.
[[nodiscard]] Result<void> write_emerald_stacks(const profile::Profile& profile, Sink& sink);

}  // namespace ringside::exporters
