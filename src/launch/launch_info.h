#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/engine_choice.h"

namespace ringside::launch {

// The shim's findings about the QEMU it started, left for ringside in the private folder.
struct LaunchInfo {
  pid_t pid = 0;
  std::string program;
  std::vector<std::string> arguments;  // as QEMU got them
  EngineChoice choice;
  std::string gdb_address;           // of a stub that is the user's, or was added; empty without
  std::string ring;                  // what the TCG plugin shares with ringside; else empty
  std::string plugin;                // the TCG plugin that QEMU was given; else empty
  std::uint64_t instruction_ns = 0;  // of guest time that each takes; 0: they are not the clock
  std::string qmp_address;           // of a monitor that was added for ringside; else empty
  bool gdb_is_the_users = false;     // the command line had -s or -gdb
  std::string kernel;                // value of -kernel, absolute; empty without
  std::string initrd;                // the same of -initrd
  std::string serial_log;            // where the first serial port can be read; empty without
  bool waits_for_continue = false;   // -S
  bool uses_terminal = false;
  bool terminal_is_raw = false;
  bool daemonizes = false;
  bool is_deterministic = false;      // a repetition of this command line gives the same run
  std::vector<std::string> warnings;  // what the user should know of the command line
  bool refused = false;               // QEMU was not started: what was asked for cannot be
  std::string error;                  // why QEMU was started unchanged and cannot be sampled

  [[nodiscard]] Result<void> write(const std::filesystem::path& folder) const;
  // Nothing while no QEMU has been started.
  [[nodiscard]] static Result<std::optional<LaunchInfo>> read(const std::filesystem::path& folder);
};

}  // namespace ringside::launch
