#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/time_limits.h"
#include "engines/ring/testing/ring_guest.h"
#include "wire/guest_capture.h"

// How the engine finds a guest's rings.
namespace ringside::engines::ring {
namespace {

using ::testing::HasSubstr;
using testing::kGuestPage;
using testing::kPlace;
using wire::testing::GuestRings;

class RingSearchTest : public testing::RingEngineTest {
 protected:
  // From process 2 on, one in each tick. The process of the first that is read; 0: none in time.
  std::uint32_t put_samples_until_one_is_read() {
    const std::uint64_t end = ringside::testing::step_end_ns();
    for (std::uint32_t id = 2; monotonic_ns() < end; ++id) {
      wire::testing::put_sample(0, id, 1);
      const auto taken = tick();
      if (!taken) return 0;
      if (!taken->captures.empty()) return wire::task_of(taken->captures[0])->pid;
    }
    return 0;
  }
};

// Their registers do not say where the page tables are, and the machine does.
TEST_F(RingSearchTest, ReadsRingsWhosePagesLieHereAndThere) {
  const GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  ram_.first_bytes = 2 * kGuestPage;
  machine_walks_ = true;
  start();
  ASSERT_TRUE(engine_->has_rings());
  wire::testing::put_sample(0, 5, 3);
  wire::testing::put_sample(1, 6, 3);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 2u);
  EXPECT_EQ(engine_->counts().lost(), 0u);
}

// A copy of an area is not where the area says that it is.
TEST_F(RingSearchTest, TakesNoAreaThatIsMappedElsewhere) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  machine_walks_ = true;
  ram_.mapped_bytes_behind = kGuestPage;
  start();
  EXPECT_FALSE(engine_->has_rings());
}

TEST_F(RingSearchTest, FindsRingsThatComeLater) {
  start();
  EXPECT_FALSE(engine_->has_rings());
  EXPECT_THAT(engine_->explain_silence(), HasSubstr("no rings were found"));
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  tick_until_rings();
}

// They are the recording's from their beginning, and so is what they have lost.
TEST_F(RingSearchTest, ReadsAllOfRingsThatAreNew) {
  start();
  ASSERT_TRUE(tick());  // looks once more, and finds none
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  for (std::uint32_t id = 1; id <= 100; ++id) wire::testing::put_sample(0, id, 8);
  ram_.rings = &rings;
  std::size_t captures = 0;
  const std::uint64_t end = ringside::testing::step_end_ns();
  while (captures == 0 && monotonic_ns() < end) {
    const auto taken = tick();
    ASSERT_TRUE(taken);
    for (const wire::Capture& capture : taken->captures)
      captures += capture.disposition == wire::Disposition::kSampled ? 1 : 0;
  }
  EXPECT_EQ(captures, 64u);
  EXPECT_EQ(engine_->counts().due, 100u);
  EXPECT_EQ(engine_->counts().overwritten, 36u);
}

// A guest that ringside has started may have booted before it is attached.
TEST_F(RingSearchTest, ReadsAllSinceTheBootOfItsOwnGuest) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  wire::testing::put_sample(0, 1, 8);
  ram_.rings = &rings;
  from_boot_ = true;
  start();
  wire::testing::put_sample(0, 2, 8);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 2u);
}

// Rings that were not mapped for a moment are the same ones: nothing is read twice.
TEST_F(RingSearchTest, GoesOnWithRingsThatItHadLeft) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  machine_walks_ = true;
  start();
  wire::testing::put_sample(0, 1, 8);
  ASSERT_EQ(tick()->captures.size(), 1u);
  ram_.mapped_bytes_behind = kGuestPage;
  const std::uint64_t end = ringside::testing::step_end_ns();
  while (engine_->has_rings() && monotonic_ns() < end) ASSERT_TRUE(tick());
  ASSERT_FALSE(engine_->has_rings());
  wire::testing::put_sample(0, 2, 8);
  ram_.mapped_bytes_behind = 0;
  std::size_t captures = 0;
  while (captures == 0 && monotonic_ns() < end) captures += tick()->captures.size();
  EXPECT_EQ(captures, 1u);
  EXPECT_EQ(engine_->counts().due, 2u);
  EXPECT_EQ(engine_->counts().lost(), 0u);
}

// The memory of a kernel that has ended may stay mapped, and the next one's rings lie elsewhere:
// they are read from their beginning.
TEST_F(RingSearchTest, FollowsTheRingsThatFill) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(0, 1, 8);
  ASSERT_EQ(tick()->captures.size(), 1u);
  const GuestRings others(1, 16384, RINGSIDE_OVERWRITE);
  ram_.others = &others;
  EXPECT_EQ(put_samples_until_one_is_read(), 2u);
}

// Rings that were silent from the start on may never have been the guest's: the others may have old
// samples.
TEST_F(RingSearchTest, FollowsTheRingsThatFillFromTheirDiscoveryOn) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  const GuestRings others(1, 16384, RINGSIDE_OVERWRITE);
  ram_.others = &others;
  start();
  EXPECT_GT(put_samples_until_one_is_read(), 2u);
  EXPECT_EQ(engine_->counts().lost(), 0u);
}

// Memory that others were in may be used for anything by the kernel that runs.
TEST_F(RingSearchTest, OthersThatAreOverwrittenAreNone) {
  GuestRings others(1, 1024, RINGSIDE_OVERWRITE);
  ram_.others = &others;
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  wire::testing::put_sample(0, 1, 8);  // of before
  start();
  const auto tick_for = [this](std::uint64_t ns) {
    std::size_t captures = 0;
    for (const std::uint64_t end = monotonic_ns() + ns; monotonic_ns() < end;)
      captures += tick()->captures.size();
    return captures;
  };
  EXPECT_EQ(tick_for(700'000'000), 0u);  // the others are seen
  std::fill(others.writable().begin(), others.writable().end(), std::byte{0x5a});
  EXPECT_EQ(tick_for(900'000'000), 0u);
  wire::testing::put_sample(0, 2, 8);
  EXPECT_EQ(tick_for(100'000'000), 1u);
  EXPECT_EQ(engine_->counts().due, 1u);
}

// RAM begins again behind a hole of the first MiB, wherever rings were found before it.
TEST_F(RingSearchTest, FindsRingsBehindAHole) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  const GuestRings others(1, 16384, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  ram_.place = 0x10000;
  ram_.others = &others;
  ram_.others_place = 0x100000;
  ram_.hole = {0xa0000, 0x100000};
  start();
  EXPECT_GT(put_samples_until_one_is_read(), 2u);
}

// Others that nothing is put into are no reason to leave these.
TEST_F(RingSearchTest, StaysWithRingsThatAreSilentAsOthersAre) {
  const GuestRings others(1, 16384, RINGSIDE_OVERWRITE);
  ram_.others = &others;
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  constexpr std::uint64_t kSilentNs = 1'700'000'000;
  const std::uint64_t end = monotonic_ns() + kSilentNs;
  while (monotonic_ns() < end) ASSERT_TRUE(tick()->captures.empty());
  wire::testing::put_sample(0, 1, 8);
  EXPECT_EQ(tick()->captures.size(), 1u);
}

// An area that is not mapped just now may be the guest's: its records may be old ones.
TEST_F(RingSearchTest, RingsThatWereNotMappedAreNotNew) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  wire::testing::put_sample(0, 1, 8);
  ram_.rings = &rings;
  machine_walks_ = true;
  ram_.mapped_bytes_behind = kGuestPage;
  start();
  ASSERT_TRUE(tick());
  ASSERT_FALSE(engine_->has_rings());
  ram_.mapped_bytes_behind = 0;
  tick_until_rings();
  EXPECT_EQ(engine_->counts().due, 0u);
}

// There is no other time to look for them.
TEST_F(RingSearchTest, FindsNewRingsAtTheEnd) {
  start();
  ASSERT_TRUE(tick());
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  wire::testing::put_sample(0, 1, 8);
  ram_.rings = &rings;
  engine_->stop();
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 1u);
}

// Records from before the start are not the recording's.
TEST_F(RingSearchTest, LeavesOutWhatRingsHadBeforeTheStart) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  way_in_error_ = Error{ErrorCode::kTimeout, "the vCPU does not answer"};
  start();
  EXPECT_FALSE(engine_->has_rings());
  wire::testing::put_sample(0, 1, 8);
  way_in_->no_registers.reset();
  tick_until_rings();
}

TEST_F(RingSearchTest, AGuestWithoutPhysicalMemoryIsExplained) {
  RingEngine engine(std::make_unique<engines::testing::FakeEngine>(1), {});
  ASSERT_TRUE(engine.tick({}));
  EXPECT_THAT(engine.explain_silence(), HasSubstr("the guest's rings cannot be read"));
}

// With page-table isolation user code has other page tables, of which these map nothing.
TEST_F(RingSearchTest, FindsRingsWhileUserCodeRuns) {
  using namespace arch::x86_64;
  constexpr std::uint64_t kKernels = 0x2000, kUsers = 0x3000, kPresent = 1;
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  const std::uint64_t self = rings.area().self.value;
  const auto index = [self](unsigned shift) { return (self >> shift & 0x1ff) * 8; };
  ram_.put(kKernels + index(39), 0x4000 | kPresent);
  ram_.put(0x4000 + index(30), 0x5000 | kPresent);
  ram_.put(0x5000 + index(21), 0x6000 | kPresent);
  for (std::uint64_t offset = 0; offset < rings.bytes().size(); offset += 0x1000)
    ram_.put(0x6000 + index(12) + offset / 0x1000 * 8, (kPlace + offset) | kPresent);
  registers_.set(kCr0, 0x80000001);
  registers_.set(kCr4, 0x20);
  registers_.set(kEfer, 0x500);
  for (const auto& [root, is_found] :
       {std::pair(kKernels, true), {kUsers, true}, {0x1000ul, false}, {0x4000ul, false}}) {
    registers_.set(kCr3, root);
    start();
    EXPECT_EQ(engine_->has_rings(), is_found) << root;
    if (!is_found) continue;
    wire::testing::put_sample(0, 1, 2);
    const auto taken = tick();
    ASSERT_EQ(taken->captures.size(), 1u);
    EXPECT_EQ(taken->captures[0].registers.get(kCr3), kKernels);
  }
}

// Bytes of the magic may lie anywhere, and another version may come.
TEST_F(RingSearchTest, AnAreaThatCannotBeReadIsExplained) {
  GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  rings.writable()[16] = std::byte{2};
  ram_.rings = &rings;
  start();
  ASSERT_TRUE(tick());
  EXPECT_FALSE(engine_->has_rings());
  EXPECT_THAT(engine_->explain_silence(), HasSubstr("the guest's rings have version 2"));
}

}  // namespace
}  // namespace ringside::engines::ring
