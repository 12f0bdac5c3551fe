#include "engines/migration_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace ringside::engines {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// QEMU's qapi/run-state.json and qapi/migration.json.
TEST(Migration, ByTheNamesOfTheStates) {
  EXPECT_EQ(migration_by("running", ""), Migration::kNone);
  EXPECT_EQ(migration_by("paused", "none"), Migration::kNone);
  for (const char* over : {"completed", "failed", "cancelled"})
    EXPECT_EQ(migration_by("running", over), Migration::kNone) << over;
  for (const char* now : {"setup", "active", "pre-switchover", "device", "postcopy-active",
                          "postcopy-paused", "cancelling", "wait-unplug", "of-a-later-qemu"})
    EXPECT_EQ(migration_by("running", now), Migration::kUnderWay) << now;
  for (const char* state : {"finish-migrate", "save-vm", "restore-vm"})
    EXPECT_EQ(migration_by(state, "active"), Migration::kFinishing) << state;
  EXPECT_EQ(migration_by("inmigrate", ""), Migration::kIncoming);
  EXPECT_EQ(migration_by("postmigrate", "completed"), Migration::kMoved);
}

// As QEMU 7.2 and 10.0 print it: no migration, one, one that failed, and of 10.1 on.
TEST(Migration, ByTheMonitorsText) {
  const std::string globals =
      "globals:\r\nstore-global-state: on\r\nonly-migratable: off\r\nsend-configuration: on\r\n";
  EXPECT_EQ(migration_in("VM status: running\r\n" + globals), Migration::kNone);
  EXPECT_EQ(migration_in("VM status: paused\r\n" + globals +
                         "Migration status: active\r\ntotal time: 5 ms\r\n"),
            Migration::kUnderWay);
  EXPECT_EQ(migration_in("VM status: paused\r\nMigration status: failed (Connection refused)\r\n"),
            Migration::kNone);
  EXPECT_EQ(migration_in("VM status: paused\r\nStatus: \t\tactive\r\n"), Migration::kUnderWay);
  EXPECT_EQ(migration_in("VM status: paused (finish-migrate)\r\nMigration status: active\r\n"),
            Migration::kFinishing);
  EXPECT_EQ(migration_in("VM status: paused (postmigrate)\r\nMigration status: completed\r\n"),
            Migration::kMoved);
  EXPECT_EQ(migration_in("VM status: paused (inmigrate)\r\n"), Migration::kIncoming);
  EXPECT_EQ(migration_in(""), Migration::kNone);
  EXPECT_EQ(migration_in("VM status: paused (no end"), Migration::kNone);
}

// QEMU's option -singlestep (7.2), or -accel tcg,one-insn-per-tb=on, is no state.
TEST(Migration, AModeOfTranslationIsNoRunState) {
  for (const std::string mode : {"", " (single step mode)", " (one insn per TB)"}) {
    EXPECT_EQ(run_state_in("VM status: running" + mode + "\r\n"), "running");
    EXPECT_EQ(run_state_in("VM status: paused" + mode), "paused");
    EXPECT_EQ(run_state_in("10.0.2\r\nVM status: paused" + mode + " (prelaunch)\r\n"), "prelaunch");
    EXPECT_EQ(migration_in("VM status: paused" + mode + " (postmigrate)\r\n"), Migration::kMoved);
    EXPECT_EQ(migration_in("VM status: paused" + mode + " (no end"), Migration::kNone);
  }
  EXPECT_EQ(run_state_in("10.0.2"), "");
}

class Watches : public ::testing::Test {
 protected:
  std::optional<std::vector<pid_t>> threads_ = std::vector<pid_t>{1, 2};
  MigrationWatch watch_{
      [this] { return threads_; },
      [this] { return threads_ ? std::optional(threads_->size()) : std::nullopt; }};
};

TEST_F(Watches, AskBecauseOfANewThread) {
  EXPECT_TRUE(watch_.asks_before_continue());  // nobody has asked yet
  watch_.answered(Migration::kNone, kSecond);
  EXPECT_FALSE(watch_.asks_at_stop());
  EXPECT_FALSE(watch_.asks_before_continue());
  threads_ = {1, 2, 3};
  EXPECT_TRUE(watch_.asks_before_continue());
  EXPECT_TRUE(watch_.asks_at_stop());
  watch_.answered(Migration::kNone, kSecond);  // it was a block device's
  EXPECT_FALSE(watch_.asks_at_stop());
  threads_ = {1, 2};
  EXPECT_FALSE(watch_.asks_at_stop());
}

// The answer says nothing of a thread that came after the question.
TEST_F(Watches, AskAgainAboutAThreadThatCameAfterTheQuestion) {
  EXPECT_TRUE(watch_.asks_at_stop());
  threads_ = {1, 2, 3};
  watch_.answered(Migration::kNone, kSecond);
  EXPECT_TRUE(watch_.asks_at_stop());
}

TEST_F(Watches, WaitForOneOfTheThreadsThatCameWithTheMigration) {
  EXPECT_TRUE(watch_.asks_at_stop());
  watch_.answered(Migration::kNone, kSecond);
  threads_ = {1, 2, 3};
  EXPECT_TRUE(watch_.asks_at_stop());
  watch_.answered(Migration::kUnderWay, kSecond);
  EXPECT_TRUE(watch_.is_under_way());
  EXPECT_FALSE(watch_.may_have_ended(100 * kSecond));
  threads_ = {1, 2, 3, 4};  // comes late
  EXPECT_FALSE(watch_.may_have_ended(100 * kSecond));
  threads_ = {1, 2, 4};
  EXPECT_TRUE(watch_.may_have_ended(100 * kSecond));
  watch_.answered(Migration::kUnderWay, 100 * kSecond);  // it was another
  EXPECT_FALSE(watch_.may_have_ended(200 * kSecond));
  threads_ = {1, 2};
  EXPECT_TRUE(watch_.may_have_ended(200 * kSecond));
  watch_.answered(Migration::kNone, 200 * kSecond);
  EXPECT_FALSE(watch_.is_under_way());
  EXPECT_FALSE(watch_.asks_at_stop());
}

TEST_F(Watches, AskOnceASecondWhereTheMigrationHasNoThreadYet) {
  EXPECT_TRUE(watch_.asks_at_stop());
  watch_.answered(Migration::kNone, kSecond);
  watch_.answered(Migration::kUnderWay, kSecond);
  EXPECT_FALSE(watch_.may_have_ended(kSecond + kSecond / 2));
  EXPECT_TRUE(watch_.may_have_ended(2 * kSecond));
}

TEST_F(Watches, AskAtEachStopWhereTheThreadsAreNotKnown) {
  threads_.reset();
  EXPECT_TRUE(watch_.asks_at_stop());
  watch_.answered(Migration::kNone, kSecond);
  EXPECT_TRUE(watch_.asks_at_stop());
  EXPECT_FALSE(watch_.asks_before_continue());
  watch_.answered(Migration::kUnderWay, kSecond);
  EXPECT_FALSE(watch_.may_have_ended(kSecond + kSecond / 2));
  EXPECT_TRUE(watch_.may_have_ended(2 * kSecond));
}

TEST(MigrationWatch, SeesTheThreadsOfAProcess) {
  MigrationWatch watch(::getpid());
  EXPECT_TRUE(watch.asks_at_stop());
  watch.answered(Migration::kNone, kSecond);
  EXPECT_FALSE(watch.asks_at_stop());
  EXPECT_FALSE(watch.asks_before_continue());
  std::mutex mutex;
  std::condition_variable ends;
  bool is_over = false;
  std::thread thread([&] {
    std::unique_lock lock(mutex);
    ends.wait(lock, [&] { return is_over; });
  });
  EXPECT_TRUE(watch.asks_before_continue());
  EXPECT_TRUE(watch.asks_at_stop());
  {
    const std::lock_guard lock(mutex);
    is_over = true;
  }
  ends.notify_one();
  thread.join();
  MigrationWatch none(0);
  EXPECT_TRUE(none.asks_at_stop());
  none.answered(Migration::kNone, kSecond);
  EXPECT_TRUE(none.asks_at_stop());
}

}  // namespace
}  // namespace ringside::engines
