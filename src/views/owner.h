#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "profile/profile.h"

namespace ringside::views {

// The frame that stands at the root of a sample's stack: none, one for its owner, or one for the
// image of the code that ran.
enum class RootFrame : std::uint8_t { kNone, kComm, kPid, kTid, kModule };

// The frame that stands for a sample's owner, as perf's folded stacks have it: "comm", "comm-pid",
// "comm-pid/tid". Without the numbers where they are not known; empty where the profile knows no
// processes, and where roots are no owners.
[[nodiscard]] std::string owner_name(const profile::Profile& profile, const profile::Owner& owner,
                                     RootFrame by);

// All that the name of a root depends on: few of many groups differ in it.
struct Root {
  profile::OwnerId owner = 0;
  profile::StringId image = 0;  // of the leaf's function; 0 where there is none, or it is no root
  auto operator<=>(const Root&) const = default;
};
[[nodiscard]] Root root_of(const profile::Profile& profile, const profile::SampleGroup& group,
                           RootFrame by);

// "[idle]" for idle vCPUs, an image as report has it for --sort dso, else owner_name(); empty for
// none.
[[nodiscard]] std::string root_name(const profile::Profile& profile, const Root& root,
                                    RootFrame by);

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
