#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/child_process.h"
#include "launch/launch_info.h"
#include "launch/launch_request.h"
#include "launch/private_folder.h"
#include "launch/qemu/qemu_process.h"

namespace ringside::app {

// A QEMU that ringside has started, itself or through a wrapper.
struct LaunchedGuest {
  launch::PrivateFolder folder;
  launch::ChildProcess child;
  launch::LaunchInfo info;
  launch::QemuProcess qemu;  // not valid where it has ended already or runs as a daemon
  [[nodiscard]] bool is_ours() const { return !info.daemonizes; }
};

// Starts `command` in `folder` (empty: here) and waits until a QEMU has been started by it, as
// `request` asks, whose plugin is found here. Gives up when the command ends, whose status `ended`
// becomes, or `stop()` becomes true (error kClosed). A QEMU that runs and cannot be sampled is
// returned too, with LaunchInfo::error.
[[nodiscard]] Result<LaunchedGuest> launch_guest(const std::vector<std::string>& command,
                                                 const std::filesystem::path& folder,
                                                 launch::LaunchRequest request,
                                                 const std::function<bool()>& stop,
                                                 std::optional<launch::ExitStatus>& ended);

// Ends QEMU as its user would, and kills it after 5 s. One that runs as a daemon is left alone.
void quit_qemu(const LaunchedGuest& guest);

// Stays until QEMU ends: it has our terminal. Reports a status that is not 0. Nothing where
// ringside is to end, and for a QEMU that runs as a daemon.
[[nodiscard]] std::optional<launch::ExitStatus> wait_for_qemu(LaunchedGuest& guest);

}  // namespace ringside::app
