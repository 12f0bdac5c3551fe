#include "session/sampling/bounded_queue.h"

#include <gtest/gtest.h>

namespace ringside::session {
namespace {

using std::chrono::milliseconds;

TEST(BoundedQueue, ReportsOnceThatABacklogIsGone) {
  BoundedQueue<int> queue(100);
  ASSERT_TRUE(queue.push(1, 9));
  EXPECT_EQ(queue.pop(milliseconds(0)), 1);
  EXPECT_FALSE(queue.was_drained(10));
  ASSERT_TRUE(queue.push(2, 6));
  ASSERT_TRUE(queue.push(3, 6));
  EXPECT_EQ(queue.pop(milliseconds(0)), 2);
  EXPECT_FALSE(queue.was_drained(10));  // one is left
  EXPECT_EQ(queue.pop(milliseconds(0)), 3);
  EXPECT_TRUE(queue.was_drained(10));
  EXPECT_FALSE(queue.was_drained(10));
  ASSERT_TRUE(queue.push(4, 10));
  EXPECT_EQ(queue.pop(milliseconds(0)), 4);
  EXPECT_TRUE(queue.was_drained(10));
}

}  // namespace
}  // namespace ringside::session
