#include "wire/redox/ring_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/redox/ring_test_util.h"

namespace ringside::wire::redox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StrEq;

constexpr std::uint64_t kKernel = 0xffffffff80000000;
constexpr std::uint64_t kNone = 0xffffffff;

// The first piece of these words.
class RingPiece : public ::testing::Test {
 protected:
  Found find(FindPiece find_piece, const RingData& data, std::size_t at = 0) {
    text = text_of(data);
    return find_piece(RingWords(as_bytes(text)), at, sample);
  }
  std::string text;
  RingSample sample;
};
using FormatA = RingPiece;
using FormatB = RingPiece;

TEST_F(FormatA, RestoresBit63OfThePc) {
  const Found found =
      find(find_piece_a, {0x7fffffff80000010, 5000, kKernel + 0x105, kKernel + 0x209});
  EXPECT_EQ(found.piece, Piece::kSample);
  EXPECT_EQ(found.words, 4u);
  EXPECT_EQ(sample.pc, GuestVirt{kKernel + 0x10});
  EXPECT_EQ(sample.counter, 5000u);
  EXPECT_FALSE(sample.context);
  EXPECT_THAT(sample.callers, ElementsAre(GuestVirt{kKernel + 0x105}, GuestVirt{kKernel + 0x209}));
  EXPECT_EQ(sample.stop, StopReason::kEndOfStack);
}

TEST_F(FormatA, EndsWhereTheNextSampleBegins) {
  EXPECT_EQ(find(find_piece_a, {0x7fffffff80000010, 1, kKernel, 0x7fffffff80000020, 2}).words, 3u);
  // At most 32 words: the 33rd is of another one whose beginning was lost.
  RingData data(40, kKernel + 1);
  data[0] = 0x7fffffff80000010;
  data[1] = 1;
  EXPECT_EQ(find(find_piece_a, data).words, 32u);
  EXPECT_EQ(sample.callers.size(), 30u);
  EXPECT_EQ(sample.stop, StopReason::kTooDeep);
  EXPECT_EQ(find(find_piece_a, data, 32).piece, Piece::kLoose);
  EXPECT_EQ(find(find_piece_a, data, 32).words, 8u);
}

TEST_F(FormatA, NeedsATimeStamp) {
  for (const RingData& data :
       {RingData{0x7fffffff80000010}, RingData{0x7fffffff80000010, 0},
        RingData{0x7fffffff80000010, kKernel}, RingData{0x7fffffff80000010, 0x7fffffff80000010}}) {
    const Found found = find(find_piece_a, data);
    EXPECT_EQ(found.piece, Piece::kDamaged);
    EXPECT_EQ(found.words, 1u);
  }
}

TEST_F(FormatA, AWordThatIsNoAddressEndsTheStack) {
  const Found found = find(find_piece_a, {0x7fffffff80000010, 1, kKernel + 1, 0x8000000000000000,
                                          kKernel + 2, 0x7fffffff80000020, 2});
  EXPECT_EQ(found.piece, Piece::kSample);
  EXPECT_EQ(found.words, 5u);
  EXPECT_EQ(found.fault_at, 3u);
  EXPECT_THAT(found.fault, StrEq("it is no return address"));
  EXPECT_THAT(sample.callers, ElementsAre(GuestVirt{kKernel + 1}));
  EXPECT_EQ(sample.stop, StopReason::kBadAddress);
  EXPECT_EQ(sample.stopped_at, GuestVirt{0x8000000000000000});
}

TEST_F(FormatB, HasItsLengthAndAContext) {
  const Found found = find(
      find_piece_b, {0xfedfac06, kKernel + 0x10, 5000, 7, kKernel + 0x105, 0x201234, 0xfedfac04});
  EXPECT_EQ(found.piece, Piece::kSample);
  EXPECT_EQ(found.words, 6u);
  EXPECT_EQ(sample.pc, GuestVirt{kKernel + 0x10});
  EXPECT_EQ(sample.counter, 5000u);
  EXPECT_EQ(sample.context, 7u);
  EXPECT_THAT(sample.callers, ElementsAre(GuestVirt{kKernel + 0x105}, GuestVirt{0x201234}));
  EXPECT_EQ(sample.stop, StopReason::kEndOfStack);
}

TEST_F(FormatB, AllOnesAreNoContext) {
  EXPECT_EQ(find(find_piece_b, {0xfedfac04, kKernel, 1, kNone}).fault, nullptr);
  EXPECT_FALSE(sample.context);
  EXPECT_EQ(find(find_piece_b, {0xfedfac04, kKernel, 1, ~std::uint64_t{0}}).fault, nullptr);
  EXPECT_FALSE(sample.context);
  EXPECT_THAT(find(find_piece_b, {0xfedfac04, kKernel, 1, kNone + 1}).fault,
              StrEq("it is no context's id"));
}

TEST_F(FormatB, AFullSampleMayHaveHadMoreFrames) {
  TrueSample full{kKernel, 1, 2, std::vector<std::uint64_t>(28, kKernel + 1)};
  EXPECT_EQ(find(find_piece_b, words_b(full)).words, 32u);
  EXPECT_EQ(sample.stop, StopReason::kTooDeep);
}

TEST_F(FormatB, IsCutWhereTheNextOneBegins) {
  const RingData data = {0xfedfac08, kKernel, 1, 2, kKernel + 1, 0xfedfac04, kKernel, 2, kNone};
  EXPECT_EQ(find(find_piece_b, data).words, 5u);
  EXPECT_THAT(sample.callers, ElementsAre(GuestVirt{kKernel + 1}));
  EXPECT_EQ(sample.stop, StopReason::kTruncated);
  const Found found = find(find_piece_b, {0xfedfac08, kKernel, 0xfedfac04, kKernel, 2, kNone});
  EXPECT_EQ(found.piece, Piece::kDamaged);
  EXPECT_EQ(found.words, 2u);
}

TEST_F(FormatB, LengthsAreFrom4To32) {
  for (const std::uint64_t length : {0, 3, 33, 255})
    EXPECT_EQ(find(find_piece_b, {0xfedfac00 | length, kKernel, 1, 2}).piece, Piece::kLoose);
}

TEST_F(FormatB, UserStacksEndWithTheKernelsOrAWordThatIsNoAddress) {
  const auto stopped_at = [&](std::uint64_t word) {
    const Found found = find(find_piece_b, {0xfedfac07, 0x201000, 1, 2, 0x201234, word, 0x201235});
    EXPECT_EQ(found.words, 7u);
    EXPECT_EQ(found.fault_at, 5u);
    EXPECT_THAT(sample.callers, ElementsAre(GuestVirt{0x201234}));
    EXPECT_EQ(sample.stop, StopReason::kBadAddress);
    return sample.stopped_at.value;
  };
  EXPECT_EQ(stopped_at(kKernel), kKernel);
  EXPECT_EQ(stopped_at(0x800000000000), 0x800000000000u);
  // No code at all can run there.
  EXPECT_EQ(find(find_piece_b, {0xfedfac04, 0x800000000000, 1, 2}).piece, Piece::kDamaged);
}

TEST_F(FormatB, AReturnAddressOf0EndsTheStack) {
  find(find_piece_b, {0xfedfac06, 0x201000, 1, 2, 0x201234, 0});
  EXPECT_THAT(sample.callers, ElementsAre(GuestVirt{0x201234}));
  EXPECT_EQ(sample.stop, StopReason::kEndOfStack);
  // Memory of a ring into which the sample was being written.
  find(find_piece_b, {0xfedfac06, kKernel, 1, 2, 0, 0});
  EXPECT_THAT(sample.callers, IsEmpty());
  EXPECT_EQ(sample.stop, StopReason::kTruncated);
}

TEST_F(FormatB, WhatBeginsNoSampleReachesToOneThatDoes) {
  const RingData data = {kKernel, 0, 5, 0, 0, 0xfedfac04, kKernel, 1, 2, 0, 0};
  EXPECT_EQ(find(find_piece_b, data).piece, Piece::kLoose);
  EXPECT_EQ(find(find_piece_b, data).words, 5u);
  EXPECT_EQ(find(find_piece_b, data, 3).piece, Piece::kUnused);
  EXPECT_EQ(find(find_piece_b, data, 3).words, 2u);
  EXPECT_EQ(find(find_piece_b, data, 5).piece, Piece::kSample);
  EXPECT_EQ(find(find_piece_b, data, 9).words, 2u);
  RingData end(100);
  end[0] = kKernel;
  EXPECT_EQ(find(find_piece_b, end).words, 1u);
  EXPECT_EQ(find(find_piece_b, end, 1).piece, Piece::kUnused);
  EXPECT_EQ(find(find_piece_b, end, 1).words, 99u);
}

}  // namespace
}  // namespace ringside::wire::redox
