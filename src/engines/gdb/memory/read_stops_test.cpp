// How reads that stop the guest are spread over time.

#include "engines/gdb/memory/read_stops.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "base/clock.h"

namespace ringside::engines::gdb {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// Stand-in for the sampler, which takes a tick in each wait.
class Turns final : public ReadTurns {
 public:
  [[nodiscard]] Result<void> wait(const ReadStop& last, std::uint64_t from_ns) override {
    lasts.push_back(last);
    froms.push_back(from_ns);
    if (error) return tl::unexpected<Error>(*error);
    while (sleeps && monotonic_ns() < from_ns) ::usleep(100);
    return {};
  }
  std::vector<ReadStop> lasts;
  std::vector<std::uint64_t> froms;
  std::optional<Error> error;
  bool sleeps = false;
};

// Tells of a stop that has lasted so long until now.
ReadStop stop(ReadStops& stops, Turns& turns, std::uint64_t stood_ns) {
  const std::uint64_t since = monotonic_ns() - stood_ns;
  stops.count(since, monotonic_ns() - since);
  EXPECT_TRUE(stops.wait());
  EXPECT_EQ(turns.lasts.back().from_ns, since);
  EXPECT_GE(turns.lasts.back().to_ns - since, stood_ns);
  return turns.lasts.back();
}

TEST(ReadStops, TheFirstOneMayBeAtOnce) {
  ReadStops stops;
  Turns turns;
  stops.set_turns(&turns);
  ASSERT_TRUE(stops.wait());
  EXPECT_EQ(turns.froms, std::vector<std::uint64_t>{0});
}

TEST(ReadStops, AGuestThatIsSampledRunsThreeTimesAsLongAsItStood) {
  ReadStops stops;
  Turns turns;
  stops.set_turns(&turns);
  const ReadStop last = stop(stops, turns, 2 * kMs);
  EXPECT_EQ(turns.froms.back(), last.to_ns + 3 * (last.to_ns - last.from_ns));
}

// A host that did not run QEMU for a second says nothing of the next read.
TEST(ReadStops, ButNotForeverAfterALongOne) {
  ReadStops stops;
  Turns turns;
  stops.set_turns(&turns);
  const ReadStop last = stop(stops, turns, 1000 * kMs);
  EXPECT_EQ(turns.froms.back(), last.to_ns + 50 * kMs);
}

TEST(ReadStops, TogetherHaveAQuarterOfTheTime) {
  ReadStops stops;
  Turns turns;
  turns.sleeps = true;
  stops.set_turns(&turns);
  const std::uint64_t start = monotonic_ns();
  std::uint64_t without_last = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(stops.wait());
    without_last = stops.pauses().total_ns;
    const std::uint64_t since = monotonic_ns();
    ::usleep(500);
    stops.count(since, monotonic_ns() - since);
  }
  if (stops.pauses().longest_ns < 16 * kMs) {  // else the rest had its limit
    EXPECT_GE(monotonic_ns() - start, 4 * without_last);
  }
  EXPECT_EQ(turns.froms.size(), 10u);  // ticks had their turn before each
}

TEST(ReadStops, EndWithTheSampling) {
  ReadStops stops;
  Turns turns;
  turns.error = Error{ErrorCode::kDisturbed, "sampling has ended"};
  stops.set_turns(&turns);
  const auto waited = stops.wait();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::kDisturbed);
}

TEST(ReadStops, AGuestThatNothingSamplesRunsForAsLongAsItStood) {
  ReadStops stops;
  const std::uint64_t before = monotonic_ns();
  stops.count(before - 5 * kMs, 5 * kMs);
  ASSERT_TRUE(stops.wait());
  EXPECT_GE(monotonic_ns() - before, 5 * kMs);
}

TEST(ReadStops, AreCounted) {
  ReadStops stops;
  stops.count(monotonic_ns() - 3 * kMs, 3 * kMs);
  stops.count(monotonic_ns() - 40 * kMs, 40 * kMs);
  stops.count(monotonic_ns() - 2 * kMs, 2 * kMs);
  EXPECT_EQ(stops.pauses().count, 3u);
  EXPECT_GE(stops.pauses().total_ns, 45 * kMs);
  EXPECT_GE(stops.pauses().longest_ns, 40 * kMs);
  EXPECT_LE(stops.pauses().longest_ns, stops.pauses().total_ns - 5 * kMs);
}

}  // namespace
}  // namespace ringside::engines::gdb
