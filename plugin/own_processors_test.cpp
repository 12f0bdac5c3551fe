#include "plugin/own_processors.h"

#include <gtest/gtest.h>

#include <thread>

namespace ringside::plugin {
namespace {

cpu_set_t of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof(set), &set);
  return set;
}

cpu_set_t first_of(const cpu_set_t& set) {
  int cpu = 0;
  while (!CPU_ISSET(cpu, &set)) ++cpu;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return one;
}

// In a thread of its own: the test's processors stay as they are.
template <typename Body>
void in_a_thread(Body body) {
  std::thread(body).join();
}

TEST(OwnProcessors, LeavesTheOnesThatAreTaken) {
  if (cpu_set_t all = of_this_thread(); CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor only";
  in_a_thread([] {
    const cpu_set_t all = of_this_thread();
    const cpu_set_t taken = first_of(all);
    cpu_set_t rest;
    CPU_XOR(&rest, &all, &taken);
    OwnProcessors own;
    own.leave(taken);
    cpu_set_t now = of_this_thread();
    EXPECT_TRUE(CPU_EQUAL(&now, &rest));
    own.leave(all);  // there is no other
    now = of_this_thread();
    EXPECT_TRUE(CPU_EQUAL(&now, &all));
    own.leave(taken);
    own.leave(cpu_set_t{});
    now = of_this_thread();
    EXPECT_TRUE(CPU_EQUAL(&now, &all));
  });
}

TEST(OwnProcessors, KeepsToWhatTheUserSaysMeanwhile) {
  if (cpu_set_t all = of_this_thread(); CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor only";
  in_a_thread([] {
    const cpu_set_t all = of_this_thread();
    OwnProcessors own;
    const cpu_set_t one = first_of(all);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    own.leave(one);
    own.leave(cpu_set_t{});
    own.leave(one);
    cpu_set_t now = of_this_thread();
    EXPECT_TRUE(CPU_EQUAL(&now, &one));
  });
}

}  // namespace
}  // namespace ringside::plugin
