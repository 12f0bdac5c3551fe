#include "launch/captured_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "base/pipe.h"

namespace ringside::launch {
namespace {

constexpr std::size_t kMaxPrinted = 4096;

// Reads the pipe until its end; nothing where that does not come before the time `end`.
std::optional<std::string> read_until_end(int pipe, std::chrono::steady_clock::time_point end) {
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd poll_fd{pipe, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&poll_fd, 1, static_cast<int>(left.count())) == 0)
      return std::nullopt;
    std::array<char, 512> bytes{};
    const ssize_t got = ::read(pipe, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    if (text.size() < kMaxPrinted) text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<std::string> capture_output(const std::string& program,
                                   const std::vector<std::string>& arguments,
                                   std::chrono::milliseconds timeout, const std::string& folder) {
  RINGSIDE_ASSIGN(auto pipe, make_pipe());
  auto& [from_child, to_parent] = pipe;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, to_parent.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, to_parent.get(), 2);
  if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail_errno("cannot start " + program, error);
  to_parent.reset();
  const auto printed = read_until_end(from_child.get(), std::chrono::steady_clock::now() + timeout);
  if (!printed) ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!printed)
    return fail(ErrorCode::kTimeout, "'{}{}' does not end", program,
                arguments.empty() ? "" : " " + arguments.front());
  return *printed;
}

}  // namespace ringside::launch
