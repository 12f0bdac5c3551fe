#include "cli/command_words.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "cli/options.h"

namespace ringside::cli {
namespace {

class CommandWords : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;

  CommandWords() : verb_("", "record") {
    verb_.add_option("-F,--freq", frequency_, "");
    verb_.add_option("--qmp", text_, "")->expected(0, 1);
    verb_.add_option("-o,--output", text_, "");
    verb_.add_flag("-k,--kernel-only", flag_, "");
    verb_.add_flag("-g", flag_, "");
  }
  // The command, behind what is left of the words.
  std::pair<Words, std::optional<Words>> take(Words words, bool takes_command = true) {
    words.insert(words.begin(), "record");
    auto command = take_command(words, verb_, takes_command);
    words.erase(words.begin());
    return {words, command};
  }

  App verb_;
  double frequency_ = 0;
  std::string text_;
  bool flag_ = false;
};

TEST_F(CommandWords, BeginBehindTheOptions) {
  const Words qemu{"qemu-system-x86_64", "-kernel", "k", "-k"};
  for (const Words& options : {Words{}, Words{"-k"}, Words{"-F", "99"}, Words{"-F99"},
                               Words{"-kF", "99"}, Words{"-kgF99"}, Words{"--freq=99", "-o", "x"},
                               Words{"--qmp=a"}, Words{"--qmp", "a"}, Words{"--freq", "-1"}})
    for (const bool has_dashes : {false, true}) {
      Words words = options;
      if (has_dashes) words.push_back("--");
      words.insert(words.end(), qemu.begin(), qemu.end());
      EXPECT_EQ(take(words), std::pair(options, std::optional(qemu))) << fmt::format("{}", words);
    }
}

TEST_F(CommandWords, MayBeNone) {
  EXPECT_EQ(take({"-k", "--qmp"}).second, std::nullopt);
  EXPECT_EQ(take({"--qmp", "-k"}).second, std::nullopt);
  EXPECT_EQ(take({"-F"}).second, std::nullopt);
  EXPECT_EQ(take({"-k", "--"}).second, Words{});
  EXPECT_EQ(take({"file", "-k"}, false), std::pair(Words({"file", "-k"}), std::optional<Words>()));
  EXPECT_EQ(take({"file", "--", "x"}, false),
            std::pair(Words({"file"}), std::optional(Words{"x"})));
}

}  // namespace
}  // namespace ringside::cli
