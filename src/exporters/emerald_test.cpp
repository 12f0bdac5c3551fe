#include "exporters/emerald.h"

#include <gtest/gtest.h>

#include "exporters/exporters_test_util.h"
#include "profile/profile_test_util.h"

// The expected texts are written out by hand after the format strings of Emerald's
// xtask/src/profiler.rs (638efb36).
namespace ringside::exporters {
namespace {

using profile::testing::TestRecording;
using testing::text_of;

std::string folded(const profile::Profile& profile) {
  return text_of([&](Sink& sink) { return write_emerald_folded(profile, sink); });
}

TEST(Emerald, FoldedStacksAreOfTheKernelOrOfAProcess) {
  TestRecording recording("emerald");
  recording.name(0, 0, "init").name(3, 0, "shell").name(5, 0, "<unknown>");
  recording.add({"kernel_main|schedule", 4})
      .add({"user:_start|user:main || syscall|write", 2, 0, 3, 3})
      .add({"user:_start|user:main", 8, 0, 3, {}})
      .add({"user:_start|user:main", 1, 0, 4, {}})
      .add({"user:_start|user:main", 1, 0, 0, {}})
      .add({"user:_start|user:?401000", 1, 0, 5, {}, 9})
      .add({"[firmware]", 1})
      .add({"[user]", 1})
      .add({"", 7})
      .add(wire::Disposition::kIdle, 9);
  EXPECT_EQ(folded(recording.profile()),
            "Firmware;[firmware] 1\n"
            "Kernel;kernel_main;schedule 4\n"
            "Kernel;syscall;write 2\n"
            "User PID=0 (init);_start;main 1\n"
            "User PID=3 (shell);_start;main 8\n"
            "User PID=4 (<unknown>);_start;main 1\n"
            "User PID=5 (<unknown>);_start;<unknown:0x401000> 1\n"
            "User PID=? (<unknown>);[user] 1\n");
}

TEST(Emerald, StacksOfOneShot) {
  TestRecording recording("emerald");
  recording.name(3, 0, "shell");
  recording.add({"kernel_main|schedule", 1}).add({"user:_start|user:main", 1, 1, 3, {}});
  const std::string text = text_of([&, profile = recording.profile()](Sink& sink) {
    return write_emerald_stacks(profile, sink);
  });
  // The samples of a TestRecording stop the guest for 101 and 102 µs.
  const std::string head = "vCPU 0\nCurrent stack trace (took 101.5µs) (kernel):\n";
  EXPECT_EQ(text, head +
                      "  0: schedule\n  1: kernel_main\n"
                      "vCPU 1\nCurrent stack trace (took 101.5µs) (User PID=3 (shell)):\n"
                      "  0: main\n  1: _start\n");
}

TEST(Emerald, WhatFollowsAFile) {
  TestRecording recording("emerald");
  recording.add({"kernel_main|schedule", 4}).add({"kernel_main|idle", 1});
  const std::string text = text_of([&, profile = recording.profile()](Sink& sink) {
    return write_emerald_outcome(profile, "out.folded", sink);
  });
  EXPECT_EQ(text,
            "Writing 2 samples to out.folded\nFolded stack samples written to: out.folded\n"
            "Generate flamegraph with: flamegraph.pl out.folded > flamegraph.svg\n");
}

TEST(Emerald, Statistics) {
  TestRecording recording("emerald");
  recording.name(3, 0, "shell").name(4, 0, "shell");
  recording.add({"kernel_main|schedule", 10})
      .add({"user:main || syscall", 3, 0, 3, {}})
      .add({"user:main", 5, 0, 3, {}})
      .add({"user:main", 1, 0, 4, {}});
  recording.add(wire::Disposition::kFailed, 1).add(wire::Disposition::kSkipped, 5);
  recording.add({"", 1});  // a sample without a frame
  recording::Statistics statistics;
  statistics.duration_ns = 5'000'120'000;
  statistics.symbol_ns = 1'900'000;
  ASSERT_TRUE(recording.writer().add_statistics(statistics));
  const auto profile = recording.profile();
  // The 26 stops lasted 100 + (n % 10) microseconds each, n from 1 to 26.
  const std::string expected =
      "\n=== Sampling Statistics ===\n"
      "Total samples: 19\n"
      "Failed samples: 2\n"
      "Unique stacks: 4\n"
      "Unique processes (with kernel): 3\n"
      "Total time: 5.00012s\n"
      "Average sample time: 142.684µs\n"
      "Total sample time: 2.711ms\n"
      "Average symbol resolution time: 100µs\n"
      "Total symbol resolution time: 1.9ms\n"
      "Success rate: 90.5%\n";
  EXPECT_EQ(text_of([&](Sink& sink) { return write_emerald_statistics(profile, false, sink); }),
            expected);
  EXPECT_EQ(text_of([&](Sink& sink) { return write_emerald_statistics(profile, true, sink); }),
            expected +
                "\n=== Top Stack Traces ===\n"
                " 1. ( 10 samples,  52.6%) Kernel;kernel_main;schedule\n"
                " 2. (  5 samples,  26.3%) User PID=3 (shell);main\n"
                " 3. (  3 samples,  15.8%) Kernel;syscall\n"
                " 4. (  1 samples,   5.3%) User PID=4 (shell);main\n");
}

TEST(Emerald, StatisticsOfNothing) {
  TestRecording recording("emerald");
  recording.add(wire::Disposition::kFailed, 2);
  const auto profile = recording.profile();
  EXPECT_EQ(text_of([&](Sink& sink) { return write_emerald_statistics(profile, true, sink); }),
            "\n=== Sampling Statistics ===\n"
            "Total samples: 0\n"
            "Failed samples: 2\n"
            "Unique stacks: 0\n"
            "Unique processes (with kernel): 0\n"
            "Total time: 10ms\n"
            "\n=== Top Stack Traces ===\n");
}

}  // namespace
}  // namespace ringside::exporters
