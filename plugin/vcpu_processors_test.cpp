#include "plugin/vcpu_processors.h"

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

constexpr std::uint64_t kTickNs = 1'000'000;

// Gives ticks for so long, and says where the thread may run at the end.
cpu_set_t after(VcpuProcessors& processors, std::uint64_t& now_ns, std::uint64_t duration_ns,
                std::uint64_t missed, const cpu_set_t& running) {
  for (const std::uint64_t end = now_ns + duration_ns; now_ns < end; now_ns += kTickNs)
    processors.tick(now_ns, missed, running);
  return of_this_thread();
}

bool equal(const cpu_set_t& a, const cpu_set_t& b) { return CPU_EQUAL(&a, &b); }

class VcpuProcessorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor only";
    CPU_XOR(&others, &all, &one);
  }

  const cpu_set_t all = of_this_thread();
  const cpu_set_t one = first_of(all);
  cpu_set_t others{};
};

TEST_F(VcpuProcessorsTest, AThreadThatIsLateFollowsThem) {
  in_a_thread([&] {
    VcpuProcessors processors;
    std::uint64_t now_ns = 0;
    EXPECT_TRUE(equal(after(processors, now_ns, 500 * kTickNs, 0, one), all));
    EXPECT_TRUE(equal(after(processors, now_ns, 500 * kTickNs, 1, one), one));
    EXPECT_TRUE(equal(after(processors, now_ns, 10 * kTickNs, 1, others), others));
    EXPECT_TRUE(equal(after(processors, now_ns, kTickNs, 1, all), all));
    EXPECT_TRUE(equal(after(processors, now_ns, kTickNs, 1, cpu_set_t{}), all)) << "all are idle";
    EXPECT_TRUE(equal(after(processors, now_ns, kTickNs, 1, one), one));
    EXPECT_TRUE(equal(after(processors, now_ns, 3'000 * kTickNs, 0, one), all)) << "in time again";
  });
}

TEST_F(VcpuProcessorsTest, KeepsToWhatTheUserSaysMeanwhile) {
  in_a_thread([&] {
    VcpuProcessors processors;
    std::uint64_t now_ns = 0;
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_TRUE(equal(after(processors, now_ns, 500 * kTickNs, 1, others), one));
    EXPECT_TRUE(equal(after(processors, now_ns, 3'000 * kTickNs, 0, others), one));
  });
}

}  // namespace
}  // namespace ringside::plugin
