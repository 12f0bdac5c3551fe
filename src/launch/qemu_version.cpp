#include "launch/qemu_version.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "base/fd.h"

namespace ringside::launch {
namespace {

constexpr std::size_t kMaxPrinted = 4096;

// What comes through the pipe until its end; nothing after `end`.
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

std::string QemuVersion::to_string() const { return fmt::format("{}.{}.{}", major, minor, patch); }

std::optional<QemuVersion> parse_qemu_version(std::string_view printed) {
  constexpr std::string_view kBefore = "QEMU emulator version ";
  const std::size_t found = printed.find(kBefore);
  if (found == printed.npos) return std::nullopt;
  QemuVersion version;
  const char* at = printed.data() + found + kBefore.size();
  const char* const end = printed.data() + printed.size();
  for (unsigned* const number : {&version.major, &version.minor, &version.patch}) {
    const auto parsed = std::from_chars(at, end, *number);
    if (parsed.ec != std::errc{}) return std::nullopt;
    at = parsed.ptr;
    if (at == end || *at != '.')
      return number == &version.major ? std::nullopt : std::optional(version);
    ++at;
  }
  return version;
}

Result<QemuVersion> ask_qemu_version(const std::string& program,
                                     std::chrono::milliseconds timeout) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  const UniqueFd from_child(ends[0]);
  UniqueFd to_parent(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, to_parent.get(), 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::string name = program;
  std::string option = "-version";
  const std::array<char*, 3> argv{name.data(), option.data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, name.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail_errno("cannot start " + program, error);
  to_parent.reset();
  const auto printed = read_until_end(from_child.get(), std::chrono::steady_clock::now() + timeout);
  if (!printed) ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!printed) return fail(ErrorCode::kTimeout, "'{} -version' does not end", program);
  const auto version = parse_qemu_version(*printed);
  if (!version)
    return fail(ErrorCode::kFormat, "'{} -version' prints no version of QEMU's", program);
  return *version;
}

}  // namespace ringside::launch
