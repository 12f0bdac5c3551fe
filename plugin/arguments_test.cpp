#include "plugin/arguments.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside::plugin {
namespace {

std::optional<Arguments> parse(std::vector<std::string> texts) {
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  return parse_arguments(static_cast<int>(arguments.size()), arguments.data());
}

// The one line that is said of arguments that are no good.
std::string complaint(std::vector<std::string> texts) {
  ::testing::internal::CaptureStderr();
  const bool is_good = parse(std::move(texts)).has_value();
  std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_FALSE(is_good);
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
  return said;
}

TEST(PluginArguments, ARingAndItsClock) {
  auto arguments = parse({"ring=/tmp/a=b"});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->ring, "/tmp/a=b");
  EXPECT_EQ(arguments->clock, wire::RingClock::kHostTime);
  EXPECT_FALSE(arguments->wait);
  EXPECT_FALSE(arguments->stand_alone);
  arguments = parse({"ring=r", "clock=instructions", "wait=on"});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->clock, wire::RingClock::kInstructions);
  EXPECT_TRUE(arguments->wait);
}

TEST(PluginArguments, StandAlone) {
  auto arguments =
      parse({"out=f", "interval=250", "start-after=3", "cpus=0:2-4", "stack-bytes=512"});
  ASSERT_TRUE(arguments && arguments->stand_alone);
  EXPECT_EQ(arguments->stand_alone->out, "f");
  EXPECT_EQ(arguments->stand_alone->format, OutFormat::kRingside);
  EXPECT_EQ(arguments->stand_alone->interval, 250'000u);
  EXPECT_EQ(arguments->stand_alone->start_after_ns, 3'000u);
  EXPECT_EQ(arguments->stand_alone->stack_bytes, 512u);
  EXPECT_EQ(arguments->stand_alone->cpus,
            (std::vector{VcpuId{0}, VcpuId{2}, VcpuId{3}, VcpuId{4}}));
  arguments = parse({"out=f"});
  ASSERT_TRUE(arguments && arguments->stand_alone);
  EXPECT_EQ(arguments->stand_alone->interval, 1'000'000u);
  EXPECT_TRUE(arguments->stand_alone->cpus.empty());
  arguments = parse({"out=f", "clock=instructions", "interval=5000"});
  ASSERT_TRUE(arguments && arguments->stand_alone);
  EXPECT_EQ(arguments->stand_alone->interval, 5'000u);
}

// Maestro's own plugin has one number, `delay`, in microseconds.
TEST(PluginArguments, InMaestrosFormatTheDelayIsTheInterval) {
  for (const char* const name : {"delay=40", "interval=40"}) {
    const auto arguments = parse({"out-format=maestro", name});
    ASSERT_TRUE(arguments && arguments->stand_alone);
    EXPECT_EQ(arguments->stand_alone->out, "qemu-profile");
    EXPECT_EQ(arguments->stand_alone->interval, 40'000u);
    EXPECT_EQ(arguments->stand_alone->start_after_ns, 0u);
  }
  const auto arguments = parse({"out-format=maestro"});
  ASSERT_TRUE(arguments && arguments->stand_alone);
  EXPECT_EQ(arguments->stand_alone->interval, 10'000u);
}

// As its own plugin is loaded: the word is nobody else's.
TEST(PluginArguments, TheDelayAloneMeansMaestrosFormat) {
  for (const bool has_output : {false, true}) {
    const auto arguments = has_output ? parse({"out=f", "delay=40"}) : parse({"delay=40"});
    ASSERT_TRUE(arguments && arguments->stand_alone);
    EXPECT_EQ(arguments->stand_alone->format, OutFormat::kMaestro);
    EXPECT_EQ(arguments->stand_alone->interval, 40'000u);
  }
  const auto ours = parse({"out=f"});
  ASSERT_TRUE(ours && ours->stand_alone);
  EXPECT_EQ(ours->stand_alone->format, OutFormat::kRingside);
}

TEST(PluginArguments, WhatIsNoGoodIsNamed) {
  for (const char* const wrong : {"",
                                  "ring",
                                  "ring=",
                                  "out=",
                                  "rnig=f",
                                  "clock=",
                                  "clock=host",
                                  "wait=yes",
                                  "interval=0",
                                  "delay=0",
                                  "start-after=x",
                                  "interval=1000000001",
                                  "interval=1k",
                                  "interval=-1",
                                  "cpus=",
                                  "cpus=1:",
                                  "cpus=2-1",
                                  "cpus=a",
                                  "cpus=65536",
                                  "stack-bytes=65537",
                                  "out-format=perf"})
    EXPECT_NE(complaint({wrong}).find("'" + std::string(wrong) + "'"), std::string::npos) << wrong;
}

TEST(PluginArguments, WhatDoesNotGoTogether) {
  EXPECT_NE(complaint({}).find("needs ring=FILE"), std::string::npos);
  EXPECT_NE(complaint({"wait=on"}).find("needs ring=FILE"), std::string::npos);
  EXPECT_NE(complaint({"ring=r", "out=f"}).find("ring= goes with"), std::string::npos);
  EXPECT_NE(complaint({"out=f", "wait=on"}).find("wait=on"), std::string::npos);
  EXPECT_NE(complaint({"out=f", "clock=instructions", "start-after=1"}).find("start-after="),
            std::string::npos);
  // Which of the two was meant?
  const std::string both = complaint({"out=f", "out-format=ringside", "delay=1"});
  EXPECT_NE(both.find("interval="), std::string::npos);
  EXPECT_NE(both.find("start-after="), std::string::npos);
  EXPECT_NE(complaint({"out-format=maestro", "delay=1", "interval=1"}).find("one of them"),
            std::string::npos);
}

}  // namespace
}  // namespace ringside::plugin
