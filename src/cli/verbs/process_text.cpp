#include "cli/verbs/process_text.h"

#include <fmt/core.h>

#include <ctime>

namespace ringside::cli {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kDay = 24 * 60 * 60;  // seconds

// Replaces control characters: names and arguments of a process may hold any bytes.
std::string printable(std::string_view text) {
  std::string clean(text);
  for (char& c : clean)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return clean;
}

std::string name_of(const guestos::GuestThread& thread) {
  const std::string comm = printable(thread.comm);
  return thread.is_kernel_thread ? "[" + comm + "]" : comm;
}

std::string cpu_time(std::uint64_t ns) {
  const std::uint64_t seconds = ns / kSecond;
  const std::string days = seconds >= kDay ? fmt::format("{}-", seconds / kDay) : "";
  return fmt::format("{}{:02}:{:02}:{:02}", days, seconds / 3600 % 24, seconds / 60 % 60,
                     seconds % 60);
}

std::string state_of(const ProcessUsage& process) {
  const guestos::GuestThread& leader = process.leader;
  std::string text(1, leader.state);
  if (leader.nice != 0) text += leader.nice < 0 ? '<' : 'N';
  if (leader.locks_memory) text += 'L';
  if (leader.leads_session) text += 's';
  if (process.threads > 1) text += 'l';
  if (leader.is_in_foreground) text += '+';
  return text;
}

// do_pr_name() of procps-ng 4.0.2 (src/ps/output.c), and pwcache_get_user() (library/pwcache.c),
// which has room for 32 characters.
std::string user_of(const guestos::GuestThread& thread, const guestos::UserNames& users) {
  constexpr std::size_t kColumn = 8;
  constexpr std::size_t kMost = 32;
  if (users.empty() && thread.user == 0) return "root";
  const auto found = users.find(thread.user);
  if (found == users.end() || found->second.size() > kMost) return std::to_string(thread.user);
  const std::string& name = found->second;
  return name.size() > kColumn ? name.substr(0, kColumn - 1) + "+" : name;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0.0";
  return fmt::format("{:.1f}", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// The time of day, or the date where the start is more than 24 hours ago; both in UTC.
std::string start_time(const guestos::GuestClock& clock, std::uint64_t started_ns) {
  const std::uint64_t started = (clock.real_ns - clock.boot_ns + started_ns) / kSecond;
  const bool is_old = clock.real_ns / kSecond > started + kDay;
  const auto seconds = static_cast<std::time_t>(started);
  std::tm date{};
  ::gmtime_r(&seconds, &date);
  std::array<char, 16> text{};
  const std::size_t size =
      std::strftime(text.data(), text.size(), is_old ? "%b%d" : "%H:%M", &date);
  return {text.data(), size};
}

}  // namespace

std::string thread_header() {
  return "    PID    PPID     TID STATE  CPU     TIME      RSS COMM\n";
}

std::string thread_line(const guestos::GuestThread& thread) {
  return fmt::format("{:7} {:7} {:7} {:5} {:4} {:>8} {:8} {}\n", thread.pid, thread.parent,
                     thread.tid, thread.state, thread.cpu, cpu_time(thread.cpu_time_ns),
                     thread.resident / 1024, name_of(thread));
}

std::vector<ProcessUsage> processes_of(const guestos::ProcessList& list) {
  std::vector<ProcessUsage> processes;
  for (const guestos::GuestThread& thread : list.threads) {
    if (processes.empty() || processes.back().leader.pid != thread.pid)
      processes.push_back({thread, thread.ended_cpu_time_ns, 0});
    ++processes.back().threads;
    processes.back().cpu_time_ns += thread.cpu_time_ns;
  }
  return processes;
}

std::string process_header() {
  return "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n";
}

std::string process_line(const ProcessUsage& process, const guestos::ProcessList& list,
                         const guestos::UserNames& users, std::string_view arguments) {
  const guestos::GuestThread& leader = process.leader;
  const std::uint64_t seconds = process.cpu_time_ns / kSecond;
  const std::string share =
      list.clock ? percent(process.cpu_time_ns, list.clock->boot_ns - leader.started_ns) : "-";
  return fmt::format("{:<8} {:7} {:>4} {:>4} {:6} {:5} {:<8} {:<4} {:>5} {:>6} {}\n",
                     user_of(leader, users), leader.pid, share,
                     list.memory_bytes ? percent(leader.resident, *list.memory_bytes) : "-",
                     leader.size / 1024, leader.resident / 1024,
                     leader.terminal.empty() ? "?" : printable(leader.terminal), state_of(process),
                     list.clock ? start_time(*list.clock, leader.started_ns) : "-",
                     fmt::format("{}:{:02}", seconds / 60, seconds % 60),
                     arguments.empty() ? "[" + printable(leader.comm) + "]" : printable(arguments));
}

}  // namespace ringside::cli
