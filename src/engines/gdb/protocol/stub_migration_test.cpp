#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/time_limits.h"
#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/protocol/stub.h"
#include "engines/gdb/testing/fake_stub.h"

namespace ringside::engines::gdb {
namespace {

using testing::FakeStub;

const std::chrono::milliseconds kShort = ringside::testing::scaled(std::chrono::milliseconds(400));

FakeStub::Settings newer_qemu() {
  FakeStub::Settings settings;
  settings.silent_stops = true;
  return settings;
}

// A stub that the handshake has left holding a guest which ran.
class StubsOfMigratedGuests : public ::testing::Test {
 protected:
  void start(std::chrono::milliseconds timeout = ringside::testing::longest_step()) {
    StubTraits traits;
    traits.qemu = traits.pipelines = traits.multiprocess = traits.silent_stops = true;
    stub_ = std::make_unique<Stub>(
        Connection(fake_.take_client()), traits, nullptr, Patience{timeout}, true,
        MigrationWatch(
            [this] { return threads_; },
            [this] { return threads_ ? std::optional(threads_->size()) : std::nullopt; }));
    ASSERT_TRUE(stub_->resume());
    ASSERT_TRUE(runs());
    fake_.forget_requests();
  }
  Result<Stub::Stopped> stop() {
    Batch batch;
    batch.add("g");
    return stub_->stop(batch);
  }
  // The fake handles requests in its own thread.
  bool runs() {
    return ringside::testing::wait_until([this] { return fake_.running(); });
  }
  std::ptrdiff_t asked(const std::string& request) {
    return std::ranges::count(fake_.requests(), request);
  }
  static std::string monitor(const std::string& command) {
    return "qRcmd," + encode_hex_text(command);
  }
  void migrates(const std::string& status, const std::string& run_state = "paused") {
    fake_.prints("info migrate", "Migration status: " + status);
    fake_.prints("info status", "VM status: " + run_state);
  }

  std::optional<std::vector<pid_t>> threads_ = std::vector<pid_t>{1};
  FakeStub fake_{newer_qemu()};
  std::unique_ptr<Stub> stub_;
};

TEST_F(StubsOfMigratedGuests, LeaveItAloneUntilItsThreadHasGone) {
  start();
  threads_ = {1, 2};
  migrates("active");
  const auto stopped = stop();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kMigrating);
  EXPECT_TRUE(runs());
  EXPECT_EQ(asked("c"), 0);  // it would end QEMU if the migration had ended meanwhile
  EXPECT_EQ(asked(monitor("cont")), 1);
  EXPECT_EQ(stub_->state(), StopState::kPaused);
  EXPECT_TRUE(stub_->leaves_guest_alone());
  fake_.forget_requests();
  EXPECT_EQ(stop().error().code, ErrorCode::kMigrating);
  EXPECT_TRUE(fake_.requests().empty());
  EXPECT_TRUE(fake_.running());
  // It has failed.
  migrates("failed (no route)");
  threads_ = {1};
  const auto again = stop();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->ours);
  EXPECT_EQ(again->replies.size(), 1u);
  EXPECT_FALSE(stub_->leaves_guest_alone());
  ASSERT_TRUE(stub_->resume());
  EXPECT_TRUE(runs());
}

// The guest stands, and nobody lets it run: neither ringside nor its guardian.
TEST_F(StubsOfMigratedGuests, DoNotContinueOneThatHasMovedWhileItWasHeld) {
  start();
  const auto stopped = stop();
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(asked(monitor("info migrate")), 0);  // there was no reason
  threads_ = {1, 2};
  migrates("active", "paused (finish-migrate)");
  Batch batch;
  batch.add("g");
  EXPECT_TRUE(stub_->exchange_and_resume(batch));
  EXPECT_EQ(stub_->state(), StopState::kPaused);
  EXPECT_TRUE(stub_->left_standing());
  migrates("completed", "paused (postmigrate)");
  threads_ = {1};
  const auto moved = stop();
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::kMoved);
  EXPECT_THAT(moved.error().message, ::testing::HasSubstr("paused at the destination"));
  stub_.reset();
  EXPECT_FALSE(fake_.running());
  EXPECT_EQ(asked("c") + asked("D;1") + asked(monitor("cont")), 0);
}

TEST_F(StubsOfMigratedGuests, ContinueOneThatStoodForUsWhenItsMigrationFailed) {
  start();
  ASSERT_TRUE(stop());
  threads_ = {1, 2};
  migrates("active", "paused (finish-migrate)");
  ASSERT_TRUE(stub_->resume());
  EXPECT_FALSE(fake_.running());
  migrates("failed", "paused");
  threads_ = {1};
  const auto stopped = stop();
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(stopped->ours);
  ASSERT_TRUE(stub_->resume());
  EXPECT_TRUE(runs());
}

// QEMU refuses `cont` when it has begun to send what is left in the moment between.
TEST_F(StubsOfMigratedGuests, LeaveItStandingWhereQemuRefusesToContinueIt) {
  start();
  ASSERT_TRUE(stop());
  threads_ = {1, 2};
  migrates("active");
  fake_.prints("cont", "Error: Migration is not finalized yet");
  ASSERT_TRUE(stub_->resume());
  EXPECT_TRUE(stub_->left_standing());
  EXPECT_FALSE(fake_.running());
}

TEST_F(StubsOfMigratedGuests, GoOnWhereTheNewThreadIsNoMigrations) {
  start();
  ASSERT_TRUE(stop());
  threads_ = {1, 2};
  migrates("completed");  // an earlier one
  ASSERT_TRUE(stub_->resume());
  EXPECT_TRUE(runs());
  EXPECT_EQ(asked("c"), 1);
  fake_.forget_requests();
  ASSERT_TRUE(stop());
  ASSERT_TRUE(stub_->resume());
  EXPECT_TRUE(runs());
  EXPECT_EQ(asked(monitor("info migrate")), 0);
}

TEST_F(StubsOfMigratedGuests, AskAtEachStopWhereQemusThreadsAreNotKnown) {
  threads_.reset();
  start();
  for (int i = 1; i <= 2; ++i) {
    const auto stopped = stop();
    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_EQ(stopped->replies.size(), 1u);
    EXPECT_EQ(asked(monitor("info migrate")), i);
    ASSERT_TRUE(stub_->resume());
    ASSERT_TRUE(runs());
  }
  migrates("active");
  EXPECT_EQ(stop().error().code, ErrorCode::kMigrating);
  EXPECT_TRUE(runs());
}

// A continue that QEMU gets to later could come after the migration's end.
TEST_F(StubsOfMigratedGuests, SendNothingBehindRequestsThatAreNotAnsweredYet) {
  start(kShort);
  fake_.hang(true);
  threads_ = {1, 2};
  EXPECT_EQ(stop().error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(stub_->leaves_guest_alone());
  migrates("completed");
  fake_.hang(false);
  EXPECT_TRUE(ringside::testing::wait_until([&] { return stop().has_value(); }));
  EXPECT_EQ(asked("c"), 0);
  ASSERT_TRUE(stub_->resume());
  EXPECT_TRUE(runs());
}

// The thread was a block device's, and the recording ends before QEMU answers.
TEST_F(StubsOfMigratedGuests, LetTheGuestRunAtTheEndWhereNothingIsMigrated) {
  start(kShort);
  fake_.hang(true);
  threads_ = {1, 2};
  EXPECT_EQ(stop().error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(stub_->left_standing());
  fake_.hang(false);
  stub_.reset();
  EXPECT_TRUE(runs());
}

TEST_F(StubsOfMigratedGuests, EndWithoutAStopWhereAMigrationMayHaveBegun) {
  start();
  threads_ = {1, 2};
  stub_.reset();
  EXPECT_TRUE(fake_.running());
  EXPECT_TRUE(fake_.requests().empty());
}

}  // namespace
}  // namespace ringside::engines::gdb
