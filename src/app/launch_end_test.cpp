#include "app/launch_end.h"

#include <gtest/gtest.h>

namespace ringside::app {
namespace {

const Result<void> kDone;
const Result<void> kNothing = fail(ErrorCode::kNotFound, "there is no sample");
const Result<void> kUsage = fail(ErrorCode::kUsage, "what?");

TEST(LaunchEnd, ItsOwnStatusIsPassedOn) {
  for (const int status : {1, 2, 33, 35, 125, 139}) {
    EXPECT_EQ(exit_status(kDone, {.could_record = true, .by_itself = status}), status);
    EXPECT_EQ(exit_status(kNothing, {.could_record = true, .by_itself = status}), status);
    EXPECT_EQ(exit_status(kNothing, {.could_record = false, .by_itself = status}), status);
  }
}

TEST(LaunchEnd, WhereThatIsZeroAnEmptyRecordingIsAFailure) {
  EXPECT_EQ(exit_status(kDone, {.could_record = true, .by_itself = 0}), 0);
  EXPECT_EQ(exit_status(kNothing, {.could_record = true, .by_itself = 0}), 1);
}

TEST(LaunchEnd, EndedByRingside) {
  EXPECT_EQ(exit_status(kDone, {.could_record = true, .by_itself = {}}), 0);
  EXPECT_EQ(exit_status(kNothing, {.could_record = true, .by_itself = {}}), 1);
}

TEST(LaunchEnd, WhatCannotBeStartedOrRecorded) {
  EXPECT_EQ(exit_status(kNothing, {}), 125);
  EXPECT_EQ(exit_status(kNothing, {.could_record = false, .by_itself = 0}), 125);
  EXPECT_EQ(exit_status(kUsage, {}), 2);
}

}  // namespace
}  // namespace ringside::app
