#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"

namespace ringside::views {

// A function's name without what differs from one build to the next though the source is the same:
// suffixes of clones (".constprop.0", ".isra.1", ".part.0", ".cold", ".llvm.123"), Rust's hashes,
// the address of "<unknown:0x…>".
[[nodiscard]] std::string name_across_builds(std::string_view name);

// An image's name, "kernel" for what recordings and perf call the kernel's own. Those of kernel
// modules stay.
[[nodiscard]] std::string image_across_builds(std::string_view image, profile::Kind kind);

// Gives all functions their names across builds. Functions that have one name then are one.
void use_names_across_builds(profile::Profile& profile);

}  // namespace ringside::views
