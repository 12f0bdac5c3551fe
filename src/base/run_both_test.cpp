#include "base/run_both.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "base/testing/one_processor.h"

namespace ringside {
namespace {

TEST(RunBoth, BothHaveRunWhenItReturns) {
  std::string first;
  std::string second;
  run_both([&] { first = "first"; }, [&] { second = "second"; });
  EXPECT_EQ(first + second, "firstsecond");
}

TEST(RunBoth, AnExceptionOfEitherIsThrownOn) {
  bool other_ran = false;
  EXPECT_THROW(run_both([&] { other_ran = true; }, [] { throw std::runtime_error("second"); }),
               std::runtime_error);
  EXPECT_TRUE(other_ran);
  EXPECT_THROW(run_both([] { throw std::runtime_error("first"); }, [] {}), std::runtime_error);
}

TEST(RunBoth, OnOneProcessorTheSecondFollowsInTheSameThread) {
  const testing::OneProcessor one;
  std::thread::id first;
  std::thread::id second;
  run_both([&] { first = std::this_thread::get_id(); },
           [&] { second = std::this_thread::get_id(); });
  EXPECT_EQ(first, std::this_thread::get_id());
  EXPECT_EQ(second, first);
}

}  // namespace
}  // namespace ringside
