// Sizes of the requests of a slice, by times that the tests say.

#include "engines/gdb/memory/slice_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace ringside::engines::gdb {
namespace {

constexpr std::uint64_t kUs = 1'000;
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kLimit = 2 * kMs;

// How long a slice holds the guest by a stub that takes `ns_a_chunk`, and `waits_ns` before it
// looks at what comes with the continue.
std::uint64_t slice(SlicePace& pace, std::uint64_t ns_a_chunk, std::uint64_t waits_ns = 0) {
  const std::size_t first = pace.with_stop(kLimit);
  const std::uint64_t stood = first * ns_a_chunk;
  pace.took(first, stood);
  return stood + waits_ns + pace.with_continue(kLimit, stood) * ns_a_chunk;
}

TEST(SlicePace, BeginsWithOneChunk) {
  SlicePace pace;
  EXPECT_EQ(pace.with_stop(kLimit), 1u);
  EXPECT_EQ(pace.with_continue(kLimit, 0), 0u);
}

TEST(SlicePace, ASlowStubIsAskedForLittleFromTheStart) {
  SlicePace pace;
  for (int n = 0; n < 20; ++n) EXPECT_LE(slice(pace, 3 * kMs), 3 * kMs);
}

TEST(SlicePace, AQuickStubHasTheWholeTime) {
  SlicePace pace;
  std::uint64_t longest = 0;
  for (int n = 0; n < 20; ++n) longest = std::max(longest, slice(pace, 100 * kUs));
  EXPECT_GE(longest, kLimit - 100 * kUs);
  EXPECT_LE(longest, kLimit);
}

// The guest stands still for as long as the host keeps QEMU waiting once, behind its stop.
TEST(SlicePace, WhereTheHostKeepsQemuWaitingItIsAskedOnceMoreAtMost) {
  SlicePace pace;
  for (int n = 0; n < 20; ++n) EXPECT_LE(slice(pace, 40 * kUs, 4 * kMs), kLimit + 4 * kMs);
}

TEST(SlicePace, FiveTimesAsSlowAsBeforeStaysBelowTenMilliseconds) {
  SlicePace pace;
  for (int n = 0; n < 20; ++n) (void)slice(pace, 50 * kUs);
  EXPECT_LE(slice(pace, 250 * kUs), 10 * kMs);
  for (int n = 0; n < 20; ++n) EXPECT_LE(slice(pace, 250 * kUs), kLimit);
}

TEST(SlicePace, ASlowAnswerIsForgotten) {
  SlicePace pace;
  for (int n = 0; n < 20; ++n) (void)slice(pace, 50 * kUs);
  const std::size_t before = pace.with_stop(kLimit);
  (void)slice(pace, 500 * kUs);
  EXPECT_LE(pace.with_stop(kLimit), before / 5);
  for (int n = 0; n < 10; ++n) (void)slice(pace, 50 * kUs);
  EXPECT_GE(pace.with_stop(kLimit), before - 1);
}

TEST(SlicePace, NothingIsAskedForWhenTheTimeIsOver) {
  SlicePace pace;
  pace.took(4, 40 * kUs);
  EXPECT_EQ(pace.with_continue(kLimit, kLimit), 0u);
  EXPECT_EQ(pace.with_continue(kLimit, kLimit - 20 * kUs), 2u);
}

}  // namespace
}  // namespace ringside::engines::gdb
