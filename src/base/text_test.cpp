#include "base/text.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

constexpr const char* kBad = "\xef\xbf\xbd";

std::string bad(std::size_t count) {
  std::string text;
  while (count-- != 0) text += kBad;
  return text;
}

TEST(PrintableLine, LeavesTextAsItIs) {
  for (const char* text : {"", "a", "plain ASCII ~!\"\\", "größe_\xe2\x82\xac_\xf0\x9f\x94\xa5",
                           "\xef\xbf\xbd", "seven77", "eight888", "nine99999"})
    EXPECT_EQ(printable_line(text), text);
}

TEST(PrintableLine, ControlCharactersBecomeSpaces) {
  EXPECT_EQ(printable_line("\x1b]0;title\x07\x1b[2J\x1b[31mred\x7f"), " ]0;title  [2J [31mred ");
  EXPECT_EQ(printable_line("ok\r\nringside: all is well\t."), "ok  ringside: all is well .");
  EXPECT_EQ(printable_line(std::string_view("a\0b", 3)), "a b");
}

TEST(PrintableLine, WhatIsNoCharacterToBeShownIsReplaced) {
  EXPECT_EQ(printable_line("a\xff"
                           "b"),
            "a" + bad(1) + "b");
  EXPECT_EQ(printable_line("\xc2\x9b"
                           "31m"),
            bad(2) + "31m");                      // C1: control sequence introducer
  EXPECT_EQ(printable_line("\xc3"), bad(1));      // cut
  EXPECT_EQ(printable_line("\xe2\x82"), bad(2));  // cut
  EXPECT_EQ(printable_line("\xe2\x82"
                           "a"),
            bad(2) + "a");
  EXPECT_EQ(printable_line("\xed\xa0\x80"), bad(3));                      // a surrogate
  EXPECT_EQ(printable_line("a\u202egnp.exe"), "a" + bad(3) + "gnp.exe");  // right to left
  for (const char* text :
       {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u2066", "\u2069", "\ufeff"})
    EXPECT_EQ(printable_line(text), bad(std::string_view(text).size())) << text;
}

TEST(TextFilter, KeepsLinesAndTabs) {
  EXPECT_EQ(printable_text("a\tb\n\x1b[0m\r\n"), "a\tb\n [0m \n");
}

TEST(TextFilter, GivesTheSameHoweverItIsCut) {
  const std::string text =
      "x\xe2\x82\xac\xf0\x9f\x94\xa5\xe2\x82z\xc2\x9b\x1b\n\xf0\x9f\x94 \xc3\xc3\xa4\u202e\xf0";
  const std::string whole = printable_text(text);
  for (std::size_t size = 1; size < text.size(); ++size) {
    TextFilter filter;
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += size)
      filter.add(std::string_view(text).substr(at, size), out);
    filter.finish(out);
    EXPECT_EQ(out, whole) << size;
  }
}

}  // namespace
}  // namespace ringside
