#include "base/text_width.h"

#include <gtest/gtest.h>

#include <clocale>

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

// Whatever locale the process has: names come from guests.
TEST(TextWidth, KnowsEveryScript) {
  EXPECT_STREQ(std::setlocale(LC_ALL, nullptr), "C");
  EXPECT_EQ(cells_of("한국어 커널"), 11u);               // Hangul, a syllable a character
  EXPECT_EQ(cells_of("\u1112\u1161\u11ab"), 2u);         // one syllable of three letters
  EXPECT_EQ(cells_of("カーネル"), 8u);                   // full width
  EXPECT_EQ(cells_of("ｶｰﾈﾙ"), 4u);                       // half width
  EXPECT_EQ(cells_of("nhân hệ điều hành"), 17u);         // precomposed
  EXPECT_EQ(cells_of("nha\u0302n he\u0323\u0302"), 7u);  // two marks on one letter
  EXPECT_EQ(cells_of("ก\u0e34น"), 2u);                   // Thai, a vowel above
  EXPECT_EQ(cells_of("क\u094dष"), 2u);                   // Devanagari, a virama
  EXPECT_EQ(cells_of("ядро"), 4u);
  EXPECT_EQ(cells_of("a\u200bb"), 2u);      // a space of no width
  EXPECT_EQ(cells_of("\u231a\u26a1"), 4u);  // a watch, lightning
  EXPECT_EQ(cells_of("…·→┌"), 4u);
  EXPECT_EQ(cut_end("한국어", 4), "한…");
  EXPECT_STREQ(std::setlocale(LC_ALL, nullptr), "C");
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
