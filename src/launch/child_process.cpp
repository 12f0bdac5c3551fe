#include "launch/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/pipe.h"
#include "launch/path_search.h"
#include "launch/qemu/qemu_command.h"

namespace ringside::launch {

std::string ExitStatus::to_string() const {
  return signal != 0 ? fmt::format("killed by signal {} ({})", signal, ::strsignal(signal))
                     : fmt::format("exit status {}", code);
}

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command,
                                         const std::string& path,
                                         const std::filesystem::path& folder) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  // A pipe that exec closes: what comes through it is the errno of an exec that failed.
  RINGSIDE_ASSIGN(auto pipe, make_pipe());
  auto& [from_child, to_parent] = pipe;
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // Handlers do not survive exec, and what the shell ignores stays ignored; SIGPIPE is ours.
    ::signal(SIGPIPE, SIG_DFL);
    ::setenv("PATH", path.c_str(), 1);
    if (folder.empty() || ::chdir(folder.c_str()) == 0) ::execvp(argv[0], argv.data());
    const int error = errno;
    if (::write(to_parent.get(), &error, sizeof(error)) != sizeof(error)) ::_exit(126);
    ::_exit(127);
  }
  to_parent.reset();
  int error = 0;
  if (::read(from_child.get(), &error, sizeof(error)) == sizeof(error)) {
    ::waitpid(pid, nullptr, 0);
    // execvp() says so too where a folder of PATH may not be read, as after `su`.
    const bool is_nowhere = command[0].find('/') == std::string::npos &&
                            !find_in_path(path, command[0], F_OK).has_value();
    if (error == EACCES && is_nowhere) error = ENOENT;
    if (error == ENOENT && is_nowhere && is_qemu_program(command[0]))
      return fail(
          ErrorCode::kNotFound,
          "cannot start {}: it is not in PATH; install QEMU (Debian: qemu-system-x86, -arm, "
          "-riscv or -misc), or name it by its path",
          command[0]);
    return fail_errno("cannot start " + command[0], error);
  }
  return ChildProcess(pid);
}

std::optional<ExitStatus> ChildProcess::poll() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    if (WIFSIGNALED(status))
      status_ = ExitStatus{0, WTERMSIG(status)};
    else
      status_ = ExitStatus{WEXITSTATUS(status), 0};
  }
  return status_;
}

}  // namespace ringside::launch
