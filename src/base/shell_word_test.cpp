#include "base/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace ringside {
namespace {

// A shell prints the word.
std::string through_a_shell(const std::string& word) {
  FILE* const pipe = ::popen(("printf %s " + shell_word(word)).c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::string text;
  std::array<char, 256> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), count);
  EXPECT_EQ(::pclose(pipe), 0);
  return text;
}

TEST(ShellWord, AShellTakesItForOneWord) {
  for (const char* const word : {"plain-1.2/x", "two words", "it's", "$HOME", "`id`", "a;b", "*",
                                 "[a]", "{a,b}", "!x", "~", "#x", "\\", "\"", "line\nline",
                                 "gr\xc3\xb6\xc3\x9f"
                                 "e",
                                 "a=b", "&", ""})
    EXPECT_EQ(through_a_shell(word), word);
}

TEST(ShellWord, PlainWordsStayAsTheyAre) {
  EXPECT_EQ(shell_word("/a/b-c_d.e+f=g:h,i@j%k"), "/a/b-c_d.e+f=g:h,i@j%k");
  EXPECT_EQ(shell_word("a b"), "'a b'");
}

}  // namespace
}  // namespace ringside
