#include "cases/expected.h"

#include <gtest/gtest.h>

namespace ringside::cases {
namespace {

constexpr const char* kText =
    "# leaf first\n"
    "0xffffffff81a2b3c4 pc clear_page_erms kernel gdb\n"
    "0xffffffff8128a001 call clear_huge_page interrupt gdb,orc\n"
    "0xffffffff81000042 pc main kernel\n"
    "stop reached-user-mode orc\n";

TEST(Expected, IsReadLineByLine) {
  const auto stack = parse_expected({kText, "expected"});
  ASSERT_TRUE(stack) << stack.error().message;
  ASSERT_EQ(stack->frames.size(), 3u);
  EXPECT_EQ(stack->frames[0].address.value, 0xffffffff81a2b3c4u);
  EXPECT_TRUE(stack->frames[0].exact);
  EXPECT_FALSE(stack->frames[1].exact);
  EXPECT_EQ(stack->frames[1].function, "clear_huge_page");
  EXPECT_EQ(stack->frames[1].kind, FrameKind::kInterrupt);
  EXPECT_EQ(stack->frames[1].confirmed, "gdb,orc");
  EXPECT_EQ(stack->frames[2].confirmed, "");
  EXPECT_EQ(stack->stop, StopReason::kUserMode);
  EXPECT_EQ(stack->stop_confirmed, "orc");
  EXPECT_TRUE(stack->known_wrong.empty());
}

TEST(Expected, SaysWithWhichRulesItIsWrongToday) {
  const std::string text = std::string(kText) + "wrong cfi inline pushf\n";
  const auto stack = parse_expected({text, "expected"});
  ASSERT_TRUE(stack) << stack.error().message;
  EXPECT_EQ(stack->known_wrong.at("cfi"), "inline pushf");
  EXPECT_EQ(stack->known_wrong.size(), 1u);
}

TEST(Expected, SaysWhatTheCaseIsGoodFor) {
  const std::string text = std::string(kText) + "class irq-prologue of  main\n";
  const auto stack = parse_expected({text, "expected"});
  ASSERT_TRUE(stack) << stack.error().message;
  EXPECT_EQ(stack->class_name, "irq-prologue");
  EXPECT_EQ(stack->class_text, "of main");
  EXPECT_NE(expected_text(*stack).find("\nclass irq-prologue of main\n"), std::string::npos);
}

TEST(Expected, WrongTextIsAnErrorWithItsLine) {
  for (const char* text : {"0x1 pc f kernel\n", "stop never\n", "stop\n", "0x1 at f kernel\nstop x",
                           "0x1 pc f ring3\nstop truncated\n", "wrong cfi\nstop truncated\n",
                           "class\nstop truncated\n", "x pc f kernel\nstop truncated\n"}) {
    const auto stack = parse_expected({text, "expected"});
    ASSERT_FALSE(stack) << text;
    EXPECT_EQ(stack.error().message.find("expected:1: "), 0u) << stack.error().message;
  }
}

TEST(Expected, ADifferenceShowsWhereStacksPart) {
  const auto expected = parse_expected({kText, "expected"});
  auto found = *expected;
  EXPECT_EQ(difference(*expected, found), "");
  found.frames[1].confirmed = "";
  EXPECT_EQ(difference(*expected, found), "");
  found.frames[1].address.value += 4;
  EXPECT_EQ(difference(*expected, found),
            "  0xffffffff81a2b3c4 pc   clear_page_erms kernel\n"
            "- 0xffffffff8128a001 call clear_huge_page interrupt\n"
            "+ 0xffffffff8128a005 call clear_huge_page interrupt\n"
            "  0xffffffff81000042 pc   main kernel\n"
            "  stop reached-user-mode\n");
  found.frames.resize(1);
  found.stop = StopReason::kTruncated;
  EXPECT_EQ(difference(*expected, found),
            "  0xffffffff81a2b3c4 pc   clear_page_erms kernel\n"
            "- 0xffffffff8128a001 call clear_huge_page interrupt\n"
            "- 0xffffffff81000042 pc   main kernel\n"
            "- stop reached-user-mode\n"
            "+ stop truncated\n");
}

TEST(Expected, EveryPropertyOfAFrameCounts) {
  const auto expected = parse_expected({kText, "expected"});
  const auto differs = [&](auto change) {
    auto found = *expected;
    change(found);
    return !difference(*expected, found).empty();
  };
  EXPECT_TRUE(differs([](ExpectedStack& s) { s.frames[2].exact = false; }));
  EXPECT_TRUE(differs([](ExpectedStack& s) { s.frames[2].function = "?"; }));
  EXPECT_TRUE(differs([](ExpectedStack& s) { s.frames[1].kind = FrameKind::kKernel; }));
  EXPECT_TRUE(differs([](ExpectedStack& s) { s.stop = StopReason::kEndOfStack; }));
  EXPECT_TRUE(differs([](ExpectedStack& s) { s.frames.pop_back(); }));
  EXPECT_TRUE(differs([](ExpectedStack& s) { s.frames.push_back(s.frames[0]); }));
}

}  // namespace
}  // namespace ringside::cases
