#include "session/sampling/parking.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace ringside::session {
namespace {

constexpr useconds_t kLongerThanItPauses = 30'000;

// A sampling thread that is at nothing but its next chance to park.
class ParkingTest : public ::testing::Test {
 protected:
  void start() {
    thread_ = std::thread([this] {
      has_waited_ = parking_.park_if_asked(is_over_);
      is_on_ = true;
    });
  }
  void hold() {
    while (!parking_.hold()) ::usleep(1000);
  }
  void TearDown() override {
    if (thread_.joinable()) thread_.join();
  }

  Parking parking_;
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_on_{false};
  std::atomic<bool> has_waited_{false};
  std::thread thread_;
};

TEST_F(ParkingTest, WhoIsNotAskedGoesOn) {
  EXPECT_FALSE(parking_.hold());
  EXPECT_FALSE(parking_.park_if_asked(is_over_));
  parking_.ask();
  EXPECT_FALSE(parking_.hold());  // not there yet
  parking_.let_go();
  EXPECT_FALSE(parking_.park_if_asked(is_over_));
}

TEST_F(ParkingTest, TheEndOfSamplingFreesNoOneWhoIsHeld) {
  parking_.ask();
  start();
  hold();
  is_over_ = true;
  ::usleep(kLongerThanItPauses);
  EXPECT_FALSE(is_on_);
  parking_.let_go();
  thread_.join();
  EXPECT_TRUE(has_waited_);
}

TEST_F(ParkingTest, TheEndOfSamplingFreesWhoIsParked) {
  parking_.ask();
  is_over_ = true;
  start();
  thread_.join();
  EXPECT_TRUE(has_waited_);
  EXPECT_FALSE(parking_.hold());
}

}  // namespace
}  // namespace ringside::session
