#include "engines/gdb/testing/qemu_process.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/socket.h"
#include "base/testing/rivals.h"
#include "base/testing/time_limits.h"

namespace ringside::engines::gdb::testing {
namespace {

const int kPatienceMs = static_cast<int>(ringside::testing::longest_step().count());

}  // namespace

std::unique_ptr<QemuProcess> QemuProcess::start(const std::vector<std::string>& extra,
                                                std::string& why, const std::string& program,
                                                Stub stub) {
  std::string folder = std::filesystem::temp_directory_path() / "ringside-qemu-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    why = "no temporary folder";
    return nullptr;
  }
  std::unique_ptr<QemuProcess> qemu(new QemuProcess(folder));
  std::vector<std::string> words{
      program,    "-accel", "tcg",         "-smp", "2",
      "-display", "none",   "-nodefaults", "-qmp", "unix:" + folder + "/qmp,server=on,wait=off"};
  if (stub == Stub::kUnixSocket)
    words.insert(words.end(), {"-gdb", "unix:" + folder + "/gdb,server=on,wait=off"});
  words.insert(words.end(), extra.begin(), extra.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (::posix_spawnp(&qemu->pid_, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    qemu->pid_ = -1;
    why = program + " is not installed";
    return nullptr;
  }
  for (int waited = 0; waited < kPatienceMs; waited += 20) {
    auto connected = connect_to({folder + "/qmp", {}, {}}, ringside::testing::longest_step());
    if (connected) {
      qemu->qmp_ = std::move(*connected);
      // A QEMU that has just started may send an event before its greeting.
      std::string line = qemu->read_line();
      while (!line.empty() && line.find("\"QMP\"") == line.npos) line = qemu->read_line();
      if (line.empty()) break;
      (void)qemu->qmp("{\"execute\": \"qmp_capabilities\"}");
      return qemu;
    }
    ::usleep(20'000);
  }
  why = program + " does not start";
  return nullptr;
}

QemuProcess::~QemuProcess() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void QemuProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

UniqueFd QemuProcess::connect_gdb() const {
  auto connected = connect_to({folder_ + "/gdb", {}, {}}, ringside::testing::longest_step());
  return connected ? std::move(*connected) : UniqueFd();
}

std::string QemuProcess::read_line() {
  for (;;) {
    if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    pollfd poll_fd{qmp_.get(), POLLIN, 0};
    char bytes[4096];
    if (::poll(&poll_fd, 1, kPatienceMs) <= 0) return {};
    const ssize_t got = ::recv(qmp_.get(), bytes, sizeof(bytes), 0);
    if (got <= 0) return {};
    unread_.append(bytes, static_cast<std::size_t>(got));
  }
}

// The answer is the line with the command's own number: events may come before it, and whatever
// QEMU sends beside.
std::string QemuProcess::qmp(const std::string& command) {
  const std::string id = "\"id\": " + std::to_string(++commands_);
  const std::string numbered = "{" + id + ", " + command.substr(command.find('{') + 1);
  (void)::send(qmp_.get(), numbered.data(), numbered.size(), MSG_NOSIGNAL);
  for (;;) {
    std::string line = read_line();
    if (line.empty() || line.find(id + "}") != line.npos || line.find(id + ",") != line.npos)
      return line;
    if (line.find("\"event\"") != line.npos) events_.push_back(std::move(line));
  }
}

// {"timestamp": {"seconds": 1763712345, "microseconds": 678901}, "event": "STOP"}
std::vector<std::uint64_t> QemuProcess::take_stops() {
  (void)qmp("{\"execute\": \"query-status\"}");  // events come before its answer
  const auto number = [](const std::string& line, std::string_view key) -> std::uint64_t {
    const std::size_t at = line.find(key);
    return at == line.npos ? 0 : std::strtoull(line.c_str() + at + key.size(), nullptr, 10);
  };
  std::vector<std::uint64_t> stops;
  std::uint64_t stopped = 0;
  for (const std::string& line : events_) {
    const std::uint64_t at =
        number(line, "\"seconds\": ") * 1'000'000 + number(line, "\"microseconds\": ");
    if (line.find("\"STOP\"") != line.npos) stopped = at;
    if (line.find("\"RESUME\"") == line.npos || stopped == 0) continue;
    stops.push_back(at - stopped);
    stopped = 0;
  }
  events_.clear();
  return stops;
}

std::string QemuProcess::hmp(const std::string& command) {
  const std::string reply = qmp(
      R"({"execute": "human-monitor-command", "arguments": {"command-line": ")" + command + "\"}}");
  std::string text;
  for (std::size_t i = 0; i < reply.size(); ++i) {
    if (reply[i] != '\\' || i + 1 == reply.size()) {
      text += reply[i];
    } else {
      ++i;
      text += reply[i] == 'n' || reply[i] == 'r' ? '\n' : reply[i];
    }
  }
  return text;
}

bool QemuProcess::runs() {
  return ringside::testing::wait_until([this] {
    return qmp("{\"execute\": \"query-status\"}").find("\"status\": \"running\"") !=
           std::string::npos;
  });
}

bool QemuProcess::stays_paused() {
  for (int i = 0; i < 10; ++i) {
    if (qmp("{\"execute\": \"query-status\"}").find("\"running\": false") == std::string::npos)
      return false;
    ::usleep(10'000);
  }
  return true;
}

void QemuProcess::stay_on_one_processor() const {
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid_)))
    ringside::testing::stay_on_one_processor(std::stoi(task.path().filename().string()));
}

void QemuProcess::freeze() const { ::kill(pid_, SIGSTOP); }

void QemuProcess::thaw() const { ::kill(pid_, SIGCONT); }

}  // namespace ringside::engines::gdb::testing
