#include "disk_image/tool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/pipe.h"

namespace ringside::disk_image {
namespace {

constexpr std::size_t kMostKept = 64 << 10;

// The texts that exec needs, made before the fork.
struct Command {
  std::vector<std::string> words;
  std::vector<std::string> variables;

  [[nodiscard]] static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  }
};

// Messages are in English and names in UTF-8. debugfs is in /usr/sbin, which is not in every user's
// PATH; it has no pager here. mtools does not refuse geometries that no floppy disk had.
std::vector<std::string> environment_of_tools() {
  const char* const path = std::getenv("PATH");
  std::vector<std::string> all = {
      std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin") + ":/usr/sbin:/sbin",
      "LC_ALL=C.UTF-8", "DEBUGFS_PAGER=__none__", "MTOOLS_SKIP_CHECK=1"};
  for (const char* name : {"HOME", "TMPDIR"})
    if (const char* const value = std::getenv(name))
      all.push_back(fmt::format("{}={}", name, value));
  return all;
}

[[noreturn]] void become_tool(const ToolRun& run, pid_t parent, const Pipe& out, const Pipe& err,
                              int failure, char** argv, char** environment) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  const int nothing = ::open("/dev/null", O_RDONLY);
  // Its three standard streams.
  ::dup2(nothing, 0);
  ::dup2(out.writer.get(), 1);
  ::dup2(err.writer.get(), 2);
  for (const int fd : run.files) ::fcntl(fd, F_SETFD, 0);
  ::signal(SIGPIPE, SIG_DFL);
  environ = environment;
  ::execvp(argv[0], argv);
  const int error = errno;
  if (::write(failure, &error, sizeof(error)) != sizeof(error)) ::_exit(126);
  ::_exit(127);
}

// Reads what is there; false at the end of the pipe.
bool take(UniqueFd& pipe, std::string& kept, const std::function<void(const std::string&)>& use) {
  std::array<char, 4096> bytes;
  const ssize_t got = ::read(pipe.get(), bytes.data(), bytes.size());
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  const std::string piece(bytes.data(), static_cast<std::size_t>(got));
  kept += piece.substr(0, kMostKept - std::min(kMostKept, kept.size()));
  if (use) use(piece);
  return true;
}

// False where the tool does not close both streams in time.
bool read_all(UniqueFd out, UniqueFd err, const ToolRun& run, ToolOutput& output) {
  const auto end = std::chrono::steady_clock::now() + run.limit;
  while (out.valid() || err.valid()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> polled{pollfd{out.get(), POLLIN, 0}, pollfd{err.get(), POLLIN, 0}};
    constexpr long kMostWait = 60'000;
    if (::poll(polled.data(), polled.size(),
               static_cast<int>(std::min<long>(left.count(), kMostWait))) <= 0)
      continue;
    if (polled[0].revents != 0 && !take(out, output.out, run.on_output)) out.reset();
    if (polled[1].revents != 0 && !take(err, output.err, nullptr)) err.reset();
  }
  return true;
}

}  // namespace

std::string name_of_descriptor(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

Result<ToolOutput> run_tool(const Tool& tool, const ToolRun& run) {
  Command command{{tool.program}, environment_of_tools()};
  command.words.insert(command.words.end(), run.arguments.begin(), run.arguments.end());
  const std::vector<char*> argv = Command::pointers(command.words);
  const std::vector<char*> environment = Command::pointers(command.variables);
  RINGSIDE_ASSIGN(Pipe out, make_pipe());
  RINGSIDE_ASSIGN(Pipe err, make_pipe());
  // exec closes it: what comes through it is the errno of an exec that failed.
  RINGSIDE_ASSIGN(Pipe failure, make_pipe());
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0)
    become_tool(run, parent, out, err, failure.writer.get(), const_cast<char**>(argv.data()),
                const_cast<char**>(environment.data()));
  out.writer.reset();
  err.writer.reset();
  failure.writer.reset();
  int error = 0;
  const bool has_failed = ::read(failure.reader.get(), &error, sizeof(error)) == sizeof(error);
  ToolOutput output;
  const bool has_ended =
      has_failed || read_all(std::move(out.reader), std::move(err.reader), run, output);
  if (!has_ended) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  // execvp() says EACCES where a folder of PATH may not be read.
  if (has_failed && (error == ENOENT || error == EACCES))
    return fail(ErrorCode::kNotFound,
                "cannot run {}, which reads disk images: install Debian's package {}", tool.program,
                tool.package);
  if (has_failed) return fail_errno(fmt::format("cannot run {}", tool.program), error);
  if (!has_ended)
    return fail(ErrorCode::kTimeout, "{} does not end within {} seconds", tool.program,
                run.limit.count());
  output.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return output;
}

}  // namespace ringside::disk_image
