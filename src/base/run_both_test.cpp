#include "base/run_both.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <stdexcept>
#include <string>
#include <thread>

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

// This thread's processors, as they were, when it ends.
class OneProcessor {
 public:
  OneProcessor() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ~OneProcessor() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

TEST(RunBoth, OnOneProcessorTheSecondFollowsInTheSameThread) {
  const OneProcessor one;
  std::thread::id first;
  std::thread::id second;
  run_both([&] { first = std::this_thread::get_id(); },
           [&] { second = std::this_thread::get_id(); });
  EXPECT_EQ(first, std::this_thread::get_id());
  EXPECT_EQ(second, first);
}

}  // namespace
}  // namespace ringside
