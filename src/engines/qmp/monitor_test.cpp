#include "engines/qmp/monitor.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/testing/time_limits.h"
#include "engines/qmp/testing/monitor_end.h"

namespace ringside::engines::qmp {
namespace {

using namespace std::chrono_literals;

// As QEMU 7.2 says it.
constexpr std::string_view kGreeting =
    R"({"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}, )"
    R"("package": "Debian 1:7.2+dfsg-7+deb12u18"}, "capabilities": ["oob"]}})"
    "\r\n";
constexpr std::string_view kAccepted = "{\"return\": {}, \"id\": 1}\r\n";

// A monitor that has said all it will say before it is asked.
class Monitors : public ::testing::Test {
 protected:
  Result<Monitor> monitor(std::string_view says,
                          std::chrono::milliseconds patience = testing::longest_step()) {
    return end_.connect(says, {patience}, "./qmp-socket");
  }
  void say(std::string_view text) const { end_.say(text); }

  MonitorEnd end_;
};

std::string begin() { return std::string(kGreeting) + std::string(kAccepted); }

TEST_F(Monitors, LeavesNegotiationMode) {
  const auto connected = monitor(begin());
  ASSERT_TRUE(connected) << connected.error().message;
  EXPECT_EQ(connected->qemu_version(), "7.2.22");
  EXPECT_EQ(end_.heard(), R"({"arguments":{"enable":["oob"]},"execute":"qmp_capabilities","id":1})"
                          "\n");
}

TEST_F(Monitors, WhatTheClientBeforeHadAskedForIsNoGreeting) {
  const auto connected = monitor(
      "{\"return\": \"ffff80000016fef0: 0xffffffff80103193\", \"id\": 1}\r\n"
      "{\"id\": 7, \"error\": {\"class\": \"GenericError\", \"desc\": \"Not here\"}}\r\n"
      "{\"timestamp\": {\"seconds\": 1, \"microseconds\": 2}, \"event\": \"STOP\"}\r\n" +
      begin());
  ASSERT_TRUE(connected) << connected.error().message;
  EXPECT_EQ(connected->qemu_version(), "7.2.22");
}

TEST_F(Monitors, DistinguishesAnswersFromEventsAndFromOlderAnswers) {
  auto connected = monitor(begin());
  ASSERT_TRUE(connected);
  say("{\"timestamp\": {\"seconds\": 1, \"microseconds\": 2}, \"event\": \"STOP\"}\r\n"
      "{\"return\": {\"status\": \"running\"}, \"id\": 1}\r\n"
      "{\"return\": {\"status\": \"paused\", \"running\": false}, \"id\": 2}\r\n");
  EXPECT_EQ(connected->status().value(), "paused");
}

TEST_F(Monitors, PassesErrorsOn) {
  auto connected = monitor(begin());
  ASSERT_TRUE(connected);
  say("{\"id\": 2, \"error\": {\"class\": \"GenericError\", \"desc\": \"Not here\"}}\r\n");
  const auto answer = connected->human("info registers -a");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(answer.error().message.find("human-monitor-command: Not here"), std::string::npos);
}

TEST_F(Monitors, AreNotWaitedForOnceThePatienceIsOver) {
  auto connected = monitor(begin());
  ASSERT_TRUE(connected);
  int looks = 0;
  connected->set_patience({3 * testing::longest_step(), [&] { return ++looks > 1; }});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(connected->status().error().code, ErrorCode::kDisturbed);
  EXPECT_LT(std::chrono::steady_clock::now() - start, testing::longest_step());
  // An answer that is there at once is taken.
  say("{\"return\": {\"status\": \"running\"}, \"id\": 3}\r\n");
  EXPECT_EQ(connected->status().value(), "running");
}

// A monitor whose events never end has the time of one that is silent.
TEST_F(Monitors, AreNotListenedToForEver) {
  auto connected = monitor(begin());
  ASSERT_TRUE(connected);
  connected->set_patience({0ms});
  say("{\"event\": \"STOP\"}\n{\"event\": \"STOP\"}\n"
      "{\"return\": {\"status\": \"running\"}, \"id\": 2}\n");
  EXPECT_EQ(connected->status().error().code, ErrorCode::kTimeout);
}

TEST_F(Monitors, ReadsDevices) {
  auto connected = monitor(begin());
  ASSERT_TRUE(connected);
  say(R"({"return": [{"frontend-open": true, "filename": "unix:/q,server=on", "label": "compat_monitor0"}, )"
      R"({"frontend-open": false, "filename": "disconnected:tcp:0.0.0.0:1234,server=on", "label": "gdb"}, )"
      R"(7, {"label": 3}], "id": 2})"
      "\n");
  const auto devices = connected->character_devices();
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 4u);
  EXPECT_EQ((*devices)[1].label, "gdb");
  EXPECT_EQ((*devices)[3].label, "");
}

TEST_F(Monitors, SaysWhatIsWrong) {
  const auto error_of = [&](std::string_view says) {
    const auto connected = monitor(says, 50ms);
    return connected ? std::string("none") : connected.error().message;
  };
  EXPECT_NE(error_of("").find("one client at a time"), std::string::npos);
  EXPECT_NE(error_of("HTTP/1.1 400 Bad Request\r\n").find("HTTP/1.1 400"), std::string::npos);
  EXPECT_NE(error_of("[1, 2]\n").find("no QMP socket: it begins with '[1,2]'"), std::string::npos);
  EXPECT_NE(error_of(kGreeting).find("has not answered for 50 ms"), std::string::npos);
  EXPECT_NE(error_of(std::string(100'000, '[') + "\n").find("no QMP socket"), std::string::npos);
  EXPECT_NE(
      error_of(std::string(5'000, '[') + std::string(5'000, ']') + "\n").find("no QMP socket"),
      std::string::npos);
  EXPECT_NE(error_of("\x1b[31mred\n").find("'.[31mred'"), std::string::npos);
  for (const char* odd : {"[]", "{\"version\": []}", "{\"version\": {\"qemu\": [1]}}"})
    EXPECT_NE(error_of(fmt::format("{{\"QMP\": {}}}\n{}", odd, kAccepted)), "") << odd;
  EXPECT_EQ(error_of("{\"QMP\": {}}\n" + std::string(kAccepted)), "none");
}

TEST_F(Monitors, DropsEventsAndKeepsWhatIsLeftOfALine) {
  auto connected = monitor(begin());
  ASSERT_TRUE(connected);
  for (int i = 0; i < 200; ++i) {
    say("{\"event\": \"STOP\"}\r\n{\"event\": \"RESUME\"}\r\n{\"event\": \"ST");
    connected->take_events();
    say("OP\"}\r\n");
  }
  say("{\"return\": {\"status\": \"running\"}, \"id\": 2}\r\n");
  EXPECT_EQ(connected->status().value(), "running");
}

TEST_F(Monitors, AStatusMustBeThere) {
  auto connected = monitor(begin());
  ASSERT_TRUE(connected);
  say("{\"return\": {}, \"id\": 2}\r\n");
  EXPECT_EQ(connected->status().error().code, ErrorCode::kProtocol);
}

TEST_F(Monitors, ReportsThatQemuHasEnded) {
  auto connected = monitor(begin() + "{\"return\": {\"stat");  // half an answer
  ASSERT_TRUE(connected);
  end_.close();
  const auto status = connected->status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kClosed);
}

TEST_F(Monitors, AQemuThatEndsNeedsNotAnswer) {
  auto connected = monitor(begin());
  ASSERT_TRUE(connected);
  connected->set_patience({3 * testing::longest_step()});
  const auto start = std::chrono::steady_clock::now();
  say("{\"event\": \"SHUTDOWN\"}\n");
  EXPECT_EQ(connected->status().error().code, ErrorCode::kClosed);
  EXPECT_LT(std::chrono::steady_clock::now() - start, testing::longest_step());
}

// With -no-shutdown it stays.
TEST_F(Monitors, AQemuThatWasShutDownMayAnswer) {
  auto connected = monitor(begin());
  ASSERT_TRUE(connected);
  say("{\"event\": \"SHUTDOWN\"}\n{\"return\": {\"status\": \"shutdown\"}, \"id\": 2}\n");
  EXPECT_EQ(connected->status().value(), "shutdown");
}

TEST_F(Monitors, AQemuThatRunsAgainIsNotEnding) {
  auto connected = monitor(begin());
  ASSERT_TRUE(connected);
  connected->set_patience({2200ms});  // longer than for one that ends
  say("{\"event\": \"SHUTDOWN\"}\n{\"event\": \"RESUME\"}\n");
  EXPECT_EQ(connected->status().error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace ringside::engines::qmp
