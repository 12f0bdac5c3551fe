#include "importers/perf_script/header_line.h"

#include <gtest/gtest.h>

namespace ringside::importers::perf_script {
namespace {

struct Case {
  const char* line;
  const char* comm;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::optional<std::uint32_t> cpu;
  std::optional<std::uint64_t> time_ns;
  std::optional<std::uint64_t> period;
  const char* event;
};

void expect(const Case& expected) {
  SCOPED_TRACE(expected.line);
  const HeaderLine header = parse_header_line(expected.line);
  const Owner owner = parse_owner(header.owner);
  EXPECT_EQ(owner.comm, expected.comm);
  EXPECT_EQ(owner.pid, expected.pid);
  EXPECT_EQ(owner.tid, expected.tid);
  EXPECT_EQ(owner.cpu, expected.cpu);
  EXPECT_EQ(header.time_ns, expected.time_ns);
  EXPECT_EQ(header.period, expected.period);
  EXPECT_EQ(header.event, expected.event);
}

constexpr std::nullopt_t kNo = std::nullopt;

// Lines of perf 3.2 to 6.1, with -F as it may be.
TEST(HeaderLine, OfManyVersionsAndFields) {
  expect({"perf   977/977   [000] 7628263.042515: cycles: ", "perf", 977, 977, 0, 7628263042515000,
          kNo, "cycles"});
  expect({"V8 WorkerThread 24636/25607 [013] 94564.109216:        100 cycles:ppp: ",
          "V8 WorkerThread", 24636, 25607, 13, 94564109216000, 100, "cycles:ppp"});
  expect({"my prog 13007 79466.272557366: cpu-clock: ", "my prog", 13007, 13007, kNo,
          79466272557366, kNo, "cpu-clock"});
  expect({"         my prog 13007/13008 79466.272557:    1001001 cpu-clock:      7f9c9f351c27 f",
          "my prog", 13007, 13008, kNo, 79466272557000, 1001001, "cpu-clock"});
  expect({"mir-console 23166 [000]  1333.768765: cpu-clock: ", "mir-console", 23166, 23166, 0,
          1333768765000, kNo, "cpu-clock"});
  expect({"my prog 13007 K     79466.272557: cpu-clock: ", "my prog", 13007, 13007, kNo,
          79466272557000, kNo, "cpu-clock"});
  expect({"func_ab 15294 cpu-clock: ", "func_ab", 15294, 15294, kNo, kNo, kNo, "cpu-clock"});
  expect({"Thread 3 1234   250000 cpu-clock: ", "Thread 3", 1234, 1234, kNo, kNo, 250000,
          "cpu-clock"});
  expect({"java 12 [003] 7 cycles:", "java", 12, 12, 3, kNo, 7, "cycles"});
  expect({"  1234/1235  [001] 4.5: cycles:", "", 1234, 1235, 1, 4500000000, kNo, "cycles"});
  expect({"swapper     0 [000]     0.000000: PERF_RECORD_COMM: x:1/1", "swapper", 0, 0, 0, 0, kNo,
          "PERF_RECORD_COMM"});
  expect(
      {":-1    -1/-1    [001] 4.500000: 1 cycles:", ":-1", kNo, kNo, 1, 4500000000, 1, "cycles"});
  // A period has at least 10 columns.
  expect({"    500250 cpu-clock: ", "", kNo, kNo, kNo, kNo, 500250, "cpu-clock"});
  expect({"  25822 cpu-clock: ", "", 25822, 25822, kNo, kNo, kNo, "cpu-clock"});
  expect({"my thread 0 25824     500250 ", "my thread 0", 25824, 25824, kNo, kNo, 500250, ""});
  expect({"my thread 0 25824 ", "my thread 0", 25824, 25824, kNo, kNo, kNo, ""});
  expect({"dd     500250 cpu-clock: ", "dd", kNo, kNo, kNo, kNo, 500250, "cpu-clock"});
  expect({"my prog ", "my prog", kNo, kNo, kNo, kNo, kNo, ""});
  expect({"my prog 13007 79466.272557366:                         ", "my prog", 13007, 13007, kNo,
          79466272557366, kNo, ""});
  expect({"ls 7/7 [000] 1.000001:     1001001      7f9c9f351c27 f (x)", "ls", 7, 7, 0, 1000001000,
          1001001, ""});
}

TEST(HeaderLine, FramesWithoutTimes) {
  expect({"   dd 13009 [001]    1001001 cpu-clock:  ffffffff8226ec67 g", "dd", 13009, 13009, 1, kNo,
          1001001, "cpu-clock"});
  expect({"my prog 13009  ffffffff8226ec67 g", "my prog", 13009, 13009, kNo, kNo, kNo, ""});
  expect({"my prog 13009/13010 [001] 250000      7f9c9f351c27 f", "my prog", 13009, 13010, 1, kNo,
          250000, ""});
  for (const char* const line : {"dd cycles:  ffffffff8226ec67 g", "dd      7f9c9f351c27 g"})
    EXPECT_TRUE(has_owner_and_frame(line)) << line;
  for (const char* const line :
       {" ffffffff8226ec67 g", "     7f9c9f351c27 f (/x)", "dd 12 cycles:", "  ./elf/rtld.c:2356",
        "1.5: 1 cycles:  ffffffff8226ec67 g", "a b c 1 2 3 dead beef"})
    EXPECT_FALSE(has_owner_and_frame(line)) << line;
}

TEST(HeaderLine, TracepointsKeepTheirFieldsApart) {
  const HeaderLine header = parse_header_line(
      "kworker/0:1-events    12 [000]  1.000002: sched:sched_switch: prev_comm=a: 5: next=b");
  EXPECT_EQ(header.event, "sched:sched_switch");
  EXPECT_EQ(header.rest, " prev_comm=a: 5: next=b");
  EXPECT_EQ(parse_owner(header.owner).comm, "kworker/0:1-events");
}

TEST(HeaderLine, FtraceAndRedox) {
  expect({"          bash-1234  [001] d..1.  12.000345: sched_switch: x", "bash", 1234, 1234, 1,
          12000345000, kNo, "sched_switch"});
  expect({"kernel 7 3 0.000000123: ticks:", "kernel", 7, 7, 3, 123, kNo, "ticks"});
  expect(
      {"kernel     7/9     [003] 0.000000123:          1 cpu: ", "kernel", 7, 9, 3, 123, 1, "cpu"});
}

TEST(HeaderLine, NumbersThatAreTooLargeAreNone) {
  EXPECT_FALSE(parse_header_line("a 1 99999999999999999999.000001: x:").time_ns);
  EXPECT_FALSE(parse_header_line("a 1 9223372037.000001: x:").time_ns);
  EXPECT_FALSE(parse_owner("a 4294967296 ").pid);
  EXPECT_FALSE(parse_header_line("a 1 1.5: 18446744073709551616 x:").period);
  EXPECT_EQ(parse_header_line("a 1 1.5: 18446744073709551615 x:").period, ~std::uint64_t{0});
}

TEST(HeaderLine, WhatIsNoTime) {
  for (const char* const line :
       {"", ":", ".:", "1.:", ".1:", "a1.5:", "1.5:x", "1.1234567890:", "main ([a]):"})
    EXPECT_FALSE(has_time(line)) << line;
  EXPECT_TRUE(has_time("1.5:"));
}

}  // namespace
}  // namespace ringside::importers::perf_script
