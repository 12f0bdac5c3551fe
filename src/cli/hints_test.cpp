#include "cli/hints.h"

#include <gtest/gtest.h>

#include "cli/options.h"

namespace ringside::cli {
namespace {

const std::vector<std::string> kCommands = {"record", "report", "ps", "profile", "diff"};

TEST(Hints, NearestByLettersThatAreMissingWrongTooManyOrExchanged) {
  EXPECT_EQ(nearest("recrod", kCommands), "record");
  EXPECT_EQ(nearest("recor", kCommands), "record");
  EXPECT_EQ(nearest("reccord", kCommands), "record");
  EXPECT_EQ(nearest("profle", kCommands), "profile");
  EXPECT_EQ(nearest("dif", kCommands), "diff");
  EXPECT_EQ(nearest("record", kCommands), "record");
  EXPECT_EQ(nearest("prof", kCommands), "profile");
  EXPECT_EQ(nearest("differences", kCommands), "diff");
}

TEST(Hints, NothingThatIsFarOrOneOfSeveral) {
  EXPECT_EQ(nearest("serve", kCommands), "");
  EXPECT_EQ(nearest("x", kCommands), "");
  EXPECT_EQ(nearest("", kCommands), "");
  EXPECT_EQ(nearest("repord", kCommands), "");  // record and report
  EXPECT_EQ(nearest("record", {}), "");
  EXPECT_EQ(nearest("rec", {"record", "recover"}), "");
}

TEST(Hints, Commands) {
  EXPECT_EQ(hint_for_command("recrod", kCommands), "; did you mean 'record'?");
  EXPECT_EQ(hint_for_command("serve", kCommands), "; there are record, report, ps, profile, diff");
  EXPECT_NE(hint_for_command("top", kCommands).find("ringside ps --watch"), std::string::npos);
  EXPECT_EQ(hint_for_command("top", {"list"}, false), "; there are list");
}

TEST(Hints, Options) {
  App app{"", "ringside"};
  App* record = app.add_subcommand("record", "");
  bool flag = false;
  record->section("When").add_flag("-q,--then-quit", flag, "");
  EXPECT_EQ(hint_for_option("--then-qiut", *record), "did you mean --then-quit?");
  EXPECT_EQ(hint_for_option("--then-qui=1", *record), "did you mean --then-quit?");
  EXPECT_EQ(hint_for_option("--something-else", *record), "");
  EXPECT_EQ(hint_for_option("-x", *record), "");
  for (const char* perfs : {"-e", "-ecycles", "--event=cycles"})
    EXPECT_EQ(hint_for_option(perfs, *record),
              "ringside samples by the guest's time, as perf's cpu-clock; leave it out, -F HZ is "
              "the rate");
  App* inner = app.add_subcommand("mem", "")->add_subcommand("record", "");
  EXPECT_EQ(hint_for_option("-e", *inner), "");
  EXPECT_EQ(hint_for_option("-e", app), "");
}

}  // namespace
}  // namespace ringside::cli
