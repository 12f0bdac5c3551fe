#include "unwind/compact_stepper.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "arch/arch_info.h"

namespace ringside::unwind {
namespace {

using Outcome = CompactStepper::Outcome;
using Place = CompactRule::Place;

constexpr std::uint64_t kStack = 0x7000;  // in the address range of every architecture
constexpr std::size_t kWords = 64;

// Two pieces with a gap between them, and zeros, addresses of the stack and other words in them. A
// slot of one of two captures leads to the second piece.
wire::Capture capture_of(const arch::ArchInfo& platform, std::mt19937_64& random) {
  const std::size_t word = platform.roles.pointer_size;
  wire::Capture capture;
  capture.arch = platform.id;
  capture.registers.set(platform.roles.sp, kStack + random() % 4 * word);
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::array<std::uint64_t, 4> words = {0, kStack + random() % kWords * word,
                                                random() & platform.address_mask(), random()};
    append(words[random() % words.size()], word, capture.bytes);
  }
  const auto half = static_cast<std::uint32_t>(kWords / 2 * word);
  const auto piece = [&](std::uint64_t address, wire::PieceKind why, std::uint32_t offset,
                         std::uint32_t size) {
    capture.pieces.push_back({.address = GuestVirt{address},
                              .why = why,
                              .requested = size,
                              .offset = offset,
                              .size = size});
  };
  piece(kStack, wire::PieceKind::kCurrentStack, 0, half);
  piece(kStack + 2 * half, wire::PieceKind::kInterruptedStack, half, half);
  if (random() % 2 == 0) piece(kStack + random() % 8 * word, wire::PieceKind::kStackLink, half, 8);
  return capture;
}

CompactRule rule_of(const arch::ArchInfo& platform, std::mt19937_64& random) {
  const auto offset = [&](int words) {
    return static_cast<std::int16_t>(
        (static_cast<int>(random() % static_cast<unsigned>(words)) - 4) *
        static_cast<int>(platform.roles.pointer_size));
  };
  constexpr std::array kPlaces = {Place::kLost, Place::kSame, Place::kSaved};
  CompactRule rule{.cfa_offset = offset(24),
                   .pc_offset = offset(8),
                   .fp_offset = offset(8),
                   .kind = CompactRule::Kind::kCall,
                   .base = random() % 2 == 0 ? CompactRule::Base::kStackPointer
                                             : CompactRule::Base::kFramePointer,
                   .pc = Place::kSaved,
                   .fp = kPlaces[random() % kPlaces.size()],
                   .sp = Place::kSame};
  rule.is_plain = true;
  if (random() % 8 == 0) rule.cfa_offset += 1;
  rule.knows_links = random() % 2 == 0;
  return rule;
}

Frontier frontier(const arch::ArchInfo& platform, std::mt19937_64& random) {
  const auto place = [&] { return kStack + random() % kWords * platform.roles.pointer_size; };
  return {.pc = 0x1000,
          .sp = place(),
          .fp = random() % 4 == 0 ? 0 : place(),
          .link = 0x2000,
          .exact = random() % 2 == 0,
          .has_fp = random() % 4 != 0,
          .has_link = random() % 2 == 0};
}

bool operator==(const Frontier& a, const Frontier& b) {
  return a.pc == b.pc && a.sp == b.sp && a.fp == b.fp && a.link == b.link && a.exact == b.exact &&
         a.has_fp == b.has_fp && a.has_link == b.has_link;
}

// Where the short way steps, step() comes to the same frame; else it leaves all as it was.
TEST(CompactStepper, PlainStepsAreTheSame) {
  constexpr int kCaptures = 20'000;
  for (const arch::ArchInfo* platform : arch::architectures()) {
    std::mt19937_64 random(1);
    const elf::ImageMap images;
    int plain = 0;
    int other = 0;
    for (int i = 0; i < kCaptures; ++i) {
      const wire::Capture capture = capture_of(*platform, random);
      const CompactRule rule = rule_of(*platform, random);
      const Frontier from = frontier(*platform, random);
      Frontier short_way = from;
      Frontier long_way = from;
      const bool stepped = CompactStepper(capture, *platform, images).step_plain(rule, short_way);
      const Outcome outcome = CompactStepper(capture, *platform, images).step(rule, long_way);
      ++(stepped ? plain : other);
      ASSERT_TRUE(!stepped || outcome == Outcome::kStep) << platform->name << " " << i;
      ASSERT_TRUE(short_way == (stepped ? long_way : from)) << platform->name << " " << i;
    }
    EXPECT_GT(plain, kCaptures / 20) << platform->name;
    EXPECT_GT(other, kCaptures / 20) << platform->name;
  }
}

// Steps of one stepper, from piece to piece: the piece of the last word is tried first.
TEST(CompactStepper, ReadsEveryPiece) {
  const arch::ArchInfo& platform = arch::kX86_64Info;
  wire::Capture capture;
  capture.arch = platform.id;
  for (const std::uint64_t word : {0x1111u, 0x9000u, 0x2222u, 0x8008u, 0x3333u})
    append(word, 8, capture.bytes);
  const auto piece = [&](std::uint64_t address, std::uint32_t offset, std::uint32_t size) {
    capture.pieces.push_back({.address = GuestVirt{address},
                              .why = wire::PieceKind::kCurrentStack,
                              .requested = size,
                              .offset = offset,
                              .size = size});
  };
  piece(0x8000, 0, 8);
  piece(0x8100, 8, 16);
  piece(0x9000, 24, 16);
  const elf::ImageMap images;
  CompactStepper stepper(capture, platform, images);
  Frontier at{.pc = 1, .sp = 0x8000, .fp = 0x8100, .exact = false, .has_fp = true};
  CompactRule rule{.cfa_offset = 8,
                   .pc_offset = -8,
                   .kind = CompactRule::Kind::kCall,
                   .pc = Place::kSaved,
                   .fp = Place::kSame,
                   .sp = Place::kSame};
  ASSERT_TRUE(stepper.step_plain(rule, at));
  EXPECT_EQ(at.pc, 0x1111u);
  rule = {.cfa_offset = 16,
          .pc_offset = -8,
          .fp_offset = -16,
          .kind = CompactRule::Kind::kCall,
          .base = CompactRule::Base::kFramePointer,
          .pc = Place::kSaved,
          .fp = Place::kSaved,
          .sp = Place::kSame};
  ASSERT_TRUE(stepper.step_plain(rule, at));
  EXPECT_EQ(at.pc, 0x2222u);
  EXPECT_EQ(at.fp, 0x9000u);
  ASSERT_TRUE(stepper.step_plain(rule, at));
  EXPECT_EQ(at.pc, 0x3333u);
  EXPECT_EQ(at.sp, 0x9010u);
  at.fp = 0x9008;  // the piece ends behind the first word
  EXPECT_FALSE(stepper.step_plain(rule, at));
}

// compact() marks a rule, and only where step_plain() can follow it.
TEST(CompactStepper, KnowsPlainRules) {
  const arch::ArchInfo& platform = arch::kX86_64Info;
  Rule rule;
  rule.cfa = {.kind = CfaRule::Kind::kRegisterOffset, .reg = platform.roles.sp, .offset = 16};
  rule.registers[rule.return_register] = {.kind = RegisterRule::Kind::kOffset, .offset = -8};
  rule.registers[platform.roles.sp] = {.kind = RegisterRule::Kind::kValOffset};
  EXPECT_TRUE(compact(rule, platform).is_plain);
  Rule frame = rule;
  frame.signal_frame = true;
  frame.registers[platform.roles.sp] = {.kind = RegisterRule::Kind::kOffset, .offset = 8};
  EXPECT_EQ(compact(frame, platform).kind, CompactRule::Kind::kFrame);
  EXPECT_FALSE(compact(frame, platform).is_plain);
  Rule switches = rule;
  switches.cfa = {.kind = CfaRule::Kind::kDereference, .reg = platform.roles.sp};
  EXPECT_EQ(compact(switches, platform).kind, CompactRule::Kind::kCall);
  EXPECT_FALSE(compact(switches, platform).is_plain);
  rule.cfa.reg = 0;
  EXPECT_EQ(compact(rule, platform).kind, CompactRule::Kind::kSlow);
  EXPECT_FALSE(compact(rule, platform).is_plain);
}

}  // namespace
}  // namespace ringside::unwind
