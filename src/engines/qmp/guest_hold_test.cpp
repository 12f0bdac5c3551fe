#include "engines/qmp/guest_hold.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/testing/time_limits.h"
#include "engines/qmp/testing/monitor_end.h"

namespace ringside::engines::qmp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The guardian of these tests only keeps the state.
constexpr DetachSequence kNoLastWords{
    [](GuestState, int) { return false; }, [](int, std::string_view) {}, {}};

// A monitor that has said already what it will answer to a hold with one request of its own:
// query-status, query-status, stop, the request, and what ends it.
class GuestHolds : public ::testing::Test {
 protected:
  void begin(std::string_view answers) {
    auto monitor = end_.connect(
        "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\n{\"return\": {}, \"id\": 1}\n",
        {ringside::testing::longest_step()});
    ASSERT_TRUE(monitor) << monitor.error().message;
    monitor_.emplace(std::move(*monitor));
    auto guardian = Guardian::start(monitor_->socket(), kNoLastWords);
    ASSERT_TRUE(guardian) << guardian.error().message;
    guardian_ = std::move(*guardian);
    (void)watch_.asks_at_stop();
    watch_.answered(Migration::kNone, 1);
    hold_.emplace(*monitor_, guardian_.get(), true, watch_, held_time_);
    end_.say(answers);
    Requests request;
    request.add_human("info registers -a");
    const auto got = hold_->begin(request);
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_EQ(got->size(), 1u);
    EXPECT_EQ(got->front(), "RIP=0");
  }
  // All that the monitor was asked for.
  std::string end() {
    end_.say(kContinued);
    EXPECT_TRUE(hold_->end({}));
    hold_.reset();
    return end_.heard();
  }

  static constexpr std::string_view kContinued = "{\"return\": {}, \"id\": 6}\n";
  MonitorEnd end_;
  std::vector<pid_t> threads_{1};
  MigrationWatch watch_{[this] { return std::optional(threads_); },
                        [this] { return std::optional(threads_.size()); }};
  std::optional<Monitor> monitor_;
  std::unique_ptr<Guardian> guardian_;
  HeldTime held_time_;
  std::optional<GuestHold> hold_;
};

constexpr const char* kRuns = "{\"return\": {\"status\": \"running\"}, \"id\": 2}\n";
constexpr const char* kRunsAndStops =
    "{\"return\": {\"status\": \"running\"}, \"id\": 2}\n"
    "{\"return\": {\"status\": \"running\"}, \"id\": 3}\n"
    "{\"event\": \"STOP\"}\n{\"return\": {}, \"id\": 4}\n{\"return\": \"RIP=0\", \"id\": 5}\n";

TEST_F(GuestHolds, StopAndContinueAGuestThatRuns) {
  begin(kRunsAndStops);
  EXPECT_FALSE(hold_->found_paused());
  EXPECT_THAT(end(), HasSubstr("\"cont\""));
}

std::string event_at(const char* name, int seconds, int microseconds) {
  return fmt::format(
      "{{\"event\": \"{}\", \"timestamp\": {{\"seconds\": {}, \"microseconds\": {}}}}}\n", name,
      seconds, microseconds);
}
std::string runs_and_stops_at(int seconds, int microseconds) {
  return "{\"return\": {\"status\": \"running\"}, \"id\": 2}\n"
         "{\"return\": {\"status\": \"running\"}, \"id\": 3}\n" +
         event_at("STOP", seconds, microseconds) +
         "{\"return\": {}, \"id\": 4}\n{\"return\": \"RIP=0\", \"id\": 5}\n";
}

// QEMU's events say how long the guest stood still.
TEST_F(GuestHolds, CountHowLongTheGuestStoodStill) {
  begin(runs_and_stops_at(7, 1'000));
  end_.say(event_at("RESUME", 7, 1'003));
  EXPECT_THAT(end(), HasSubstr("\"cont\""));
  EXPECT_EQ(held_time_.total_ns(), 3'000u);
}

// Events carry real time.
TEST_F(GuestHolds, CountNoTimeByWhichTheClockWasSet) {
  begin(runs_and_stops_at(7, 1'000));
  end_.say(event_at("RESUME", 7 + 1'000'000, 1'000));
  EXPECT_THAT(end(), HasSubstr("\"cont\""));
  EXPECT_LT(held_time_.total_ns(), 1'000'000'000'000'000u);
}

// The user's stop has waited beside ours, and QEMU takes one request of each monitor in turn.
TEST_F(GuestHolds, LeaveAGuestPausedThatItsUserStopsInBetween) {
  begin(std::string(kRuns) +
        "{\"event\": \"STOP\"}\n{\"return\": {\"status\": \"paused\"}, \"id\": 3}\n"
        "{\"return\": {}, \"id\": 4}\n{\"return\": \"RIP=0\", \"id\": 5}\n");
  EXPECT_TRUE(hold_->found_paused());
  EXPECT_THAT(end(), Not(HasSubstr("\"cont\"")));
}

// It was paused when it was asked for, its user let it go on, and then our stop came.
TEST_F(GuestHolds, ContinueAGuestThatItsUserResumesInBetween) {
  begin(
      "{\"return\": {\"status\": \"paused\"}, \"id\": 2}\n"
      "{\"return\": {\"status\": \"paused\"}, \"id\": 3}\n"
      "{\"event\": \"RESUME\"}\n{\"event\": \"STOP\"}\n{\"return\": {}, \"id\": 4}\n"
      "{\"return\": \"RIP=0\", \"id\": 5}\n");
  EXPECT_FALSE(hold_->found_paused());
  EXPECT_THAT(end(), HasSubstr("\"cont\""));
}

TEST_F(GuestHolds, LeaveAGuestStandingThatHasBeenSentMeanwhile) {
  begin(kRunsAndStops);
  threads_ = {1, 2};
  end_.say(
      "{\"return\": {\"status\": \"finish-migrate\"}, \"id\": 6}\n"
      "{\"return\": {\"status\": \"active\"}, \"id\": 7}\n");
  EXPECT_TRUE(hold_->end({}));
  hold_.reset();
  EXPECT_THAT(end_.heard(), Not(HasSubstr("\"cont\"")));
  EXPECT_TRUE(watch_.left_standing());
  EXPECT_EQ(guardian_->state(), GuestState::kPaused);
}

TEST_F(GuestHolds, ContinueAGuestWhoseMigrationHasJustBegun) {
  begin(kRunsAndStops);
  threads_ = {1, 2};
  end_.say(
      "{\"return\": {\"status\": \"paused\"}, \"id\": 6}\n"
      "{\"return\": {\"status\": \"active\"}, \"id\": 7}\n{\"return\": {}, \"id\": 8}\n");
  EXPECT_TRUE(hold_->end({}));
  EXPECT_THAT(end_.heard(), HasSubstr("\"cont\""));
  EXPECT_EQ(guardian_->state(), GuestState::kRunning);
  EXPECT_TRUE(watch_.is_under_way());
}

// The answer was true when it was given.
TEST_F(GuestHolds, LeaveAGuestStandingThatQemuStopsJustBeforeTheContinue) {
  begin(kRunsAndStops);
  threads_ = {1, 2};
  end_.say(
      "{\"return\": {\"status\": \"paused\"}, \"id\": 6}\n"
      "{\"return\": {\"status\": \"active\"}, \"id\": 7}\n"
      "{\"error\": {\"class\": \"GenericError\", \"desc\": \"Migration is not finalized yet\"}, "
      "\"id\": 8}\n{\"return\": {\"status\": \"finish-migrate\"}, \"id\": 9}\n"
      "{\"return\": {\"status\": \"active\"}, \"id\": 10}\n");
  EXPECT_EQ(hold_->end({}).error().code, ErrorCode::kMigrating);
  hold_.reset();
  EXPECT_TRUE(watch_.left_standing());
  EXPECT_EQ(guardian_->state(), GuestState::kPaused);
}

// It has no thread of its own yet, or its threads are not known.
TEST_F(GuestHolds, LeaveAGuestStandingThatQemuDoesNotContinue) {
  begin(kRunsAndStops);
  end_.say(
      "{\"error\": {\"class\": \"GenericError\", \"desc\": \"Migration is not finalized yet\"}, "
      "\"id\": 6}\n{\"return\": {\"status\": \"finish-migrate\"}, \"id\": 7}\n"
      "{\"return\": {\"status\": \"active\"}, \"id\": 8}\n");
  EXPECT_EQ(hold_->end({}).error().code, ErrorCode::kMigrating);
  (void)end_.heard();
  hold_.reset();
  EXPECT_EQ(end_.heard(), "");
  EXPECT_TRUE(watch_.left_standing());
}

// QEMU forgets requests that it has not carried out yet when its client goes: the guardian keeps
// the connection.
TEST_F(GuestHolds, EndInTheGuardiansHandsWhereTheContinueIsNotAnswered) {
  begin(kRunsAndStops);
  hold_.reset();
  EXPECT_THAT(end_.heard(), HasSubstr("\xff\n{\"execute\":\"cont\",\"id\":6}"));
  EXPECT_EQ(guardian_->state(), GuestState::kOurs);
}

// Such a QEMU may leave requests without an answer until its client has gone.
TEST_F(GuestHolds, EndWhereQemuIsEnding) {
  begin(kRunsAndStops);
  end_.say("{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true}}\n");
  hold_.reset();
  EXPECT_EQ(guardian_->state(), GuestState::kRunning);
}

TEST_F(GuestHolds, EndWhenTheContinueIsAnswered) {
  begin(kRunsAndStops);
  end_.say("{\"error\": {\"class\": \"GenericError\", \"desc\": \"JSON parse error\"}}\n");
  end_.say(kContinued);
  hold_.reset();
  EXPECT_EQ(guardian_->state(), GuestState::kRunning);
}

}  // namespace
}  // namespace ringside::engines::qmp
