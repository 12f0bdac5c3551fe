#pragma once

#include <cstdint>
#include <string>

#include "profile/profile.h"

namespace ringside::views {

// How finely owners of samples are distinguished.
enum class OwnerLevel : std::uint8_t { kNone, kComm, kPid, kTid };

// The frame that stands for a sample's owner at the root of its stack, as perf's folded stacks have
// it: "comm", "comm-pid", "comm-pid/tid". Without the numbers where they are not known; empty where
// the profile knows no processes.
[[nodiscard]] std::string owner_name(const profile::Profile& profile, const profile::Owner& owner,
                                     OwnerLevel level);

// Whether samples of that owner are shown: those with a stack, and those of idle vCPUs where they
// are wanted.
[[nodiscard]] inline bool is_shown(const profile::Owner& owner, bool show_idle) {
  return owner.disposition == wire::Disposition::kSampled ||
         (owner.disposition == wire::Disposition::kIdle && show_idle);
}

// "kernel", "user"; "unknown" where it is not known.
[[nodiscard]] const char* level_name(PrivilegeLevel level);

// "vcpu 3"; "no vcpu" for samples that were taken of none.
[[nodiscard]] std::string vcpu_name(VcpuId vcpu);

}  // namespace ringside::views
