#pragma once

#include <cstdint>

#include "profile/profile.h"

namespace ringside::views {

// Whether the host's load has bent the shares of a recording, by what was counted while it was
// made. The limits are those within which shares were right (docs/busy-hosts.md); beyond them they
// may be right, too.
struct HostBend {
  enum class Reason {
    kNone,
    kNotRun,   // the host did not run a vCPU, or what samples it, at too many of the ticks
    kCrowded,  // the busy vCPUs left no processor to the threads that stop them
  };
  Reason reason = Reason::kNone;
  double not_run = 0;            // kNotRun: of the ticks at which a vCPU was not idle, 0 to 1
  double busy_vcpus = 0;         // kCrowded: on average
  std::uint64_t processors = 0;  // kCrowded: that ringside could run on
};

// Whether samples are so seldom that one which is late is so for want of a processor, and not for
// the rate: a tick takes less than a millisecond or two of a host that is not busy.
[[nodiscard]] bool samples_seldom(const profile::Profile& profile);

// Every tick came while the plugin saw no code of a vCPU that the host ran. The host may be busy
// all the same; a vCPU that repeats a trap for good looks like that.
[[nodiscard]] bool ran_no_code(const profile::Profile& profile);

[[nodiscard]] HostBend host_bend(const profile::Profile& profile);

}  // namespace ringside::views
