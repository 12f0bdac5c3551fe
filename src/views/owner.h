#pragma once

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

// The image of the leaf's function, which its root is called after; 0 where there is none, and
// where roots are no images. A root's name depends on this and on the owner only.
[[nodiscard]] profile::StringId root_image(const profile::Profile& profile,
                                           const profile::SampleGroup& group, RootFrame by);

// The name of the root of a sampled stack, as report has it for --sort dso where it is an image;
// empty for none.
[[nodiscard]] std::string root_name(const profile::Profile& profile, const profile::Owner& owner,
                                    profile::StringId image, RootFrame by);

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
