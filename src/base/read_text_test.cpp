#include "base/read_text.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(ReadText, IsWhole) {
  const std::string line = read_text("/proc/self/cmdline");
  EXPECT_NE(line.find("base_tests"), std::string::npos);
  EXPECT_EQ(read_text("/proc/self/cmdline", 3), line.substr(0, 3));
}

// A read of a process's file fails with ESRCH once the process has ended.
TEST(ReadText, EndsAtAnErrorOfARead) {
  EXPECT_EQ(read_text("/proc/self/mem"), "");  // EIO
  EXPECT_EQ(read_text("/proc"), "");           // EISDIR
  EXPECT_EQ(read_text("/proc/none"), "");
}

}  // namespace
}  // namespace ringside
