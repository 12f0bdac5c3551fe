#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ringside::launch {

// How a process ended.
struct ExitStatus {
  int code = 0;    // exit code, where `signal` is 0
  int signal = 0;  // the signal that killed it
  [[nodiscard]] std::string to_string() const;
  // As a shell has it in $?.
  [[nodiscard]] int as_shell() const { return signal != 0 ? 128 + signal : code; }
};

// A child that keeps ringside's terminal, process group and standard streams, so that Ctrl-C does
// to it what it would do alone. It is never killed by this class: the guest comes first.
class ChildProcess {
 public:
  // Starts `command` (looked up in the new PATH) with `path` as PATH, in `folder` (empty: here).
  // Signal handling is the default's. An error of exec is returned as an error.
  [[nodiscard]] static Result<ChildProcess> start(const std::vector<std::string>& command,
                                                  const std::string& path,
                                                  const std::filesystem::path& folder = {});
  ChildProcess(ChildProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), status_(other.status_) {}
  ChildProcess& operator=(ChildProcess&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // How it ended; nothing while it runs.
  [[nodiscard]] std::optional<ExitStatus> poll();

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  std::optional<ExitStatus> status_;
};

}  // namespace ringside::launch
