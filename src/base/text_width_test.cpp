#include "base/text_width.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

using Lines = std::vector<std::string>;

TEST(TextWidth, CountsCells) {
  EXPECT_EQ(cells_of(""), 0u);
  EXPECT_EQ(cells_of("größe"), 5u);
  EXPECT_EQ(cells_of("内核"), 4u);              // two cells each
  EXPECT_EQ(cells_of("e\xcc\x81"), 1u);         // e and a combining accent
  EXPECT_EQ(cells_of("\xf0\x9f\x98\x80"), 2u);  // an emoji
  EXPECT_EQ(cells_of("\xff"), 1u);              // no character, shown as one
}

TEST(TextWidth, CutsTheMiddleAndTheEnd) {
  EXPECT_EQ(cut_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(cut_middle("abcdefghij", 9), "abcd…ghij");
  EXPECT_EQ(cut_middle("abcdefghij", 6), "abc…ij");
  EXPECT_EQ(cut_middle("abcdefghij", 1), "…");
  EXPECT_EQ(cut_end("abcdefghij", 6), "abcde…");
  // A wide character that would stand over the edge goes.
  EXPECT_EQ(cut_end("内核内核", 4), "内…");
  for (std::size_t cells = 1; cells < 12; ++cells) {
    EXPECT_LE(cells_of(cut_middle("内核abcde内核e\xcc\x81", cells)), cells);
    EXPECT_LE(cells_of(cut_end("内核abcde内核e\xcc\x81", cells)), cells);
  }
}

TEST(TextWidth, WrapsAtSpaces) {
  EXPECT_EQ(wrap("", 5), Lines{""});
  EXPECT_EQ(wrap("one two three", 13), Lines{"one two three"});
  EXPECT_EQ(wrap("one two three", 12), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("one  two   three", 4), (Lines{"one", "two", "thre", "e"}));
  EXPECT_EQ(wrap("  indented words", 10), (Lines{"  indented", "words"}));
  EXPECT_EQ(wrap("内核", 1), (Lines{"内", "核"}));  // wider than the line, and not left out
}

}  // namespace
}  // namespace ringside
