#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside::launch {

// What the shim found out about the QEMU it started, left for ringside in the private folder.
struct LaunchInfo {
  pid_t pid = 0;
  std::string program;
  std::vector<std::string> arguments;  // as QEMU got them
  std::string gdb_address;
  bool gdb_is_the_users = false;    // the command line had -s or -gdb
  std::string kernel;               // value of -kernel, absolute; empty without
  std::string serial_log;           // where the first serial port can be read; empty without
  bool waits_for_continue = false;  // -S
  bool uses_terminal = false;
  bool terminal_is_raw = false;
  bool daemonizes = false;
  std::string error;  // why QEMU was started unchanged and cannot be sampled

  [[nodiscard]] Result<void> write(const std::filesystem::path& folder) const;
  // Nothing while no QEMU has been started.
  [[nodiscard]] static Result<std::optional<LaunchInfo>> read(const std::filesystem::path& folder);
};

}  // namespace ringside::launch
