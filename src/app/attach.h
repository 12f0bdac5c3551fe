#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"
#include "engines/engine.h"
#include "engines/gdb/gdb_engine.h"
#include "engines/qmp/connect.h"
#include "launch/child_process.h"
#include "launch/launch_info.h"
#include "launch/launch_request.h"
#include "launch/private_folder.h"
#include "launch/qemu_process.h"

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
// `request` asks, whose plugin is found here. Gives up when the command ends, or `stop()` becomes
// true (error kClosed). A QEMU that runs and cannot be sampled is returned too, with
// LaunchInfo::error.
[[nodiscard]] Result<LaunchedGuest> launch_guest(const std::vector<std::string>& command,
                                                 const std::filesystem::path& folder,
                                                 launch::LaunchRequest request,
                                                 const std::function<bool()>& stop);

// Connects to a gdb stub. Tries again for as long as `wait_while()` is true and nothing listens
// there yet.
[[nodiscard]] Result<std::unique_ptr<engines::Engine>> attach_gdb(
    const std::string& address, const engines::gdb::Options& options,
    const std::function<bool()>& wait_while);

// Connects to a QEMU's monitor, which opens a gdb stub in `folder` for the time where it can. Tries
// again as attach_gdb does.
[[nodiscard]] Result<engines::qmp::WayIn> attach_qmp(const std::string& address,
                                                     const std::filesystem::path& folder,
                                                     bool stops_the_guest,
                                                     const engines::gdb::Options& options,
                                                     const std::function<bool()>& wait_while);

// Takes the samples of the TCG plugin that shares the file `ring`; tries again for as long as
// `wait_while()` is true and the file is not there yet. `monitor`: QEMU's, or empty; not waited for
// once `is_over()` is true.
[[nodiscard]] Result<std::unique_ptr<engines::Engine>> attach_tcg(
    const std::filesystem::path& ring, const std::string& monitor,
    const std::function<bool()>& is_over, const std::function<bool()>& wait_while);

// A kernel's file of any kind (symbols::open_kernel), by its absolute path; `symbols` is a text
// with its symbols, or empty.
[[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open_kernel(const std::string& path,
                                                                      const std::string& symbols);
// Error kMismatch if a machine of that architecture cannot run the kernel.
[[nodiscard]] Result<void> check_kernel(const elf::ElfFile& kernel, Arch machine);

}  // namespace ringside::app
