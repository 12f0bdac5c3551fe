#include "launch/host_priority.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/clock.h"
#include "base/fd.h"

namespace ringside::launch {
namespace {

constexpr int kUsualNice = 0;

std::string group_file(pid_t process) { return fmt::format("/proc/{}/autogroup", process); }

// "/autogroup-25 nice 0"
std::optional<int> group_nice(pid_t process) {
  std::ifstream file(group_file(process));
  std::string name;
  std::string word;
  int nice = 0;
  if (!(file >> name >> word >> nice) || word != "nice") return std::nullopt;
  return nice;
}

// Linux allows one change in a tenth of a second (EAGAIN, kernel/sched/autogroup.c).
bool set_group_nice(pid_t process, int nice) {
  constexpr int kTries = 15;
  const std::string text = std::to_string(nice);
  const UniqueFd file(::open(group_file(process).c_str(), O_WRONLY | O_CLOEXEC));
  for (int i = 0; file.valid() && i < kTries; ++i) {
    // Linux takes no pwrite() there (seq_file).
    if (::write(file.get(), text.data(), text.size()) >= 0) return true;
    if (errno != EAGAIN) return false;
    sleep_ns(10'000'000);
  }
  return false;
}

// Calls a function with each thread of a process that is there.
template <class Call>
void for_each_thread(pid_t process, const Call& call) {
  std::error_code gone;
  std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", process), gone);
  for (; !gone && threads != std::filesystem::directory_iterator(); threads.increment(gone))
    call(static_cast<pid_t>(std::stoi(threads->path().filename().string())));
}

std::optional<int> nice_of(pid_t thread) {
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread));
  return errno == 0 ? std::optional(nice) : std::nullopt;
}

bool set_nice(pid_t thread, int nice) {
  return ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), nice) == 0;
}

}  // namespace

Result<void> HostPriority::check() {
  const std::optional<int> before = nice_of(0);
  if (before && (*before <= kNice || set_nice(0, kNice))) {
    (void)set_nice(0, *before);
    return {};
  }
  return fail(ErrorCode::kUnsupported,
              "--host-priority: this user may raise no priority (that takes CAP_SYS_NICE, as root "
              "has it, or 'ulimit -e 32'): leave it out, or see docs/busy-hosts.md");
}

// A thread that is there later was made by one that is there now, or by such a one.
HostPriority::HostPriority(pid_t process) : process_(process) {
  for_each_thread(process, [this](pid_t thread) {
    const std::optional<int> nice = nice_of(thread);
    if (!nice) return;
    before_.emplace(thread, *nice);
    if (*nice > kNice && set_nice(thread, kNice)) is_raised_ = true;
  });
  const std::optional<int> group = group_nice(process);
  if (group && *group > kNice && set_group_nice(process, kNice)) group_before_ = group;
}

HostPriority::~HostPriority() {
  const auto main_thread = before_.find(process_);
  const int usual = main_thread != before_.end() ? main_thread->second : kUsualNice;
  for_each_thread(process_, [this, usual](pid_t thread) {
    const auto before = before_.find(thread);
    if (before != before_.end())
      (void)set_nice(thread, before->second);
    else if (nice_of(thread) == kNice)
      (void)set_nice(thread, usual);
  });
  if (group_before_) (void)set_group_nice(process_, *group_before_);
}

}  // namespace ringside::launch
