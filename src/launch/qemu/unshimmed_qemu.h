#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "launch/launch_info.h"

namespace ringside::launch {

// A QEMU that the command has started by an absolute path, past the shims: what its command line
// offers to those who attach. LaunchInfo::error where that is nothing. Nothing where no process
// below `command` is a QEMU that runs a guest, or one that a shim only asks for its version.
// `self`: ringside's program, which shims are.
[[nodiscard]] std::optional<LaunchInfo> find_unshimmed_qemu(pid_t command,
                                                            const std::filesystem::path& self);

}  // namespace ringside::launch
