#include "cli/verbs/process_text.h"

#include <gtest/gtest.h>

namespace ringside::cli {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

guestos::GuestThread thread(std::uint32_t pid, std::uint32_t tid) {
  guestos::GuestThread made;
  made.pid = pid;
  made.tid = tid;
  made.parent = 1;
  made.state = 'S';
  made.comm = "ser\nver";
  made.cpu_time_ns = 60 * kSecond;
  made.started_ns = 100 * kSecond;
  made.resident = 2 << 20;
  made.size = 8 << 20;
  return made;
}

TEST(ProcessText, Threads) {
  guestos::GuestThread shown = thread(105, 106);
  shown.cpu = 2;
  shown.cpu_time_ns = (90061 + 86400) * kSecond;  // 2 days, 1 hour, 1 minute and 1 second
  EXPECT_EQ(thread_line(shown), "    105       1     106 S        2 2-01:01:01     2048 ser?ver\n");
  shown.is_kernel_thread = true;
  EXPECT_NE(thread_line(shown).find("[ser?ver]"), std::string::npos);
}

TEST(ProcessText, ProcessesAreTheSumsOfTheirThreads) {
  guestos::ProcessList list;
  list.threads = {thread(7, 7), thread(7, 9), thread(8, 8)};
  list.threads[0].ended_cpu_time_ns = list.threads[1].ended_cpu_time_ns = 5 * kSecond;
  const auto processes = processes_of(list);
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].cpu_time_ns, 125 * kSecond);
  EXPECT_EQ(processes[0].threads, 2u);
  EXPECT_EQ(processes[1].cpu_time_ns, 60 * kSecond);
}

TEST(ProcessText, ColumnsOfPsAux) {
  guestos::ProcessList list;
  list.clock = {.boot_ns = 350 * kSecond, .real_ns = 1'795'300'625 * kSecond};
  list.memory_bytes = 20 << 20;
  ProcessUsage process{thread(105, 105), 125 * kSecond};
  // 250 s before 22:37:05 UTC (date -u -d @1795300625).
  EXPECT_EQ(process_line(process, list, {}, "server -x\x1b"),
            "root         105 50.0 10.0   8192  2048 ?        S    22:32   2:05 server -x?\n");
  process.leader.user = 1000;
  process.leader.terminal = "ttyS0";
  process.leader.nice = -20;
  process.leader.locks_memory = process.leader.leads_session = process.leader.is_in_foreground =
      true;
  process.threads = 2;
  list = {};
  EXPECT_EQ(process_line(process, list, {{0, "root"}}, ""),
            "1000         105    -    -   8192  2048 ttyS0    S<Lsl+     -   2:05 [ser?ver]\n");
}

// Output of ps of procps-ng 4.0.2 (Debian 12) for processes of these users.
TEST(ProcessText, NamesOfUsers) {
  const guestos::UserNames users = {{1, "eightchr"},
                                    {2, "ninechars"},
                                    {3, "abcdefghijklmnopqrstuvwxyzabcdef"},
                                    {4, "abcdefghijklmnopqrstuvwxyzabcdefg"}};
  const auto shown = [&users](std::uint32_t user) {
    ProcessUsage process{thread(105, 105)};
    process.leader.user = user;
    const std::string line = process_line(process, {}, users, "");
    return line.substr(0, line.find(' '));
  };
  EXPECT_EQ(shown(1), "eightchr");
  EXPECT_EQ(shown(2), "ninecha+");
  EXPECT_EQ(shown(3), "abcdefg+");
  EXPECT_EQ(shown(4), "4");
  EXPECT_EQ(shown(4294967295), "4294967295");
  EXPECT_EQ(shown(0), "0");
}

}  // namespace
}  // namespace ringside::cli
