#include "disk_image/tool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"

namespace ringside::disk_image {
namespace {

constexpr Tool kShell{"sh", "dash"};

TEST(Tool, GivesBothStreamsAndHowItEnded) {
  const auto good = run_tool(kShell, {.arguments = {"-c", "echo out; echo err >&2"}});
  ASSERT_TRUE(good.has_value());
  EXPECT_TRUE(good->succeeded);
  EXPECT_EQ(good->out, "out\n");
  EXPECT_EQ(good->err, "err\n");
  const auto bad = run_tool(kShell, {.arguments = {"-c", "exit 3"}});
  EXPECT_FALSE(bad.value().succeeded);
  EXPECT_FALSE(run_tool(kShell, {.arguments = {"-c", "kill -9 $$"}}).value().succeeded);
}

TEST(Tool, ThatIsNotThereNamesItsPackage) {
  const auto none = run_tool({"ringside-no-such-tool", "the-package"}, {});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_NE(none.error().message.find("the-package"), std::string::npos);
}

TEST(Tool, IsKilledWhenItTakesTooLong) {
  const auto result = run_tool(
      kShell,
      {.arguments = {"-c", "exec sleep 600"}, .files = {}, .limit = std::chrono::seconds(1)});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kTimeout);
}

TEST(Tool, GetsTheFilesThatAreNamedAndNoOthers) {
  const UniqueFd given(::memfd_create("given", MFD_CLOEXEC));
  const UniqueFd other(::memfd_create("other", MFD_CLOEXEC));
  const std::string script = "echo text >" + name_of_descriptor(given.get()) + "; test ! -e " +
                             name_of_descriptor(other.get());
  EXPECT_TRUE(
      run_tool(kShell, {.arguments = {"-c", script}, .files = {given.get()}}).value().succeeded);
  char text[5] = {};
  ASSERT_EQ(::pread(given.get(), text, sizeof(text), 0), 5);
  EXPECT_EQ(std::string(text, 5), "text\n");
}

TEST(Tool, KeepsTheBeginningOfMuchOutputAndShowsAllOfIt) {
  std::size_t shown = 0;
  const auto result =
      run_tool(kShell, {.arguments = {"-c", "head -c 300000 /dev/zero"},
                        .on_output = [&](const std::string& piece) { shown += piece.size(); }});
  EXPECT_EQ(result.value().out.size(), 64U << 10);
  EXPECT_EQ(shown, 300000U);
}

}  // namespace
}  // namespace ringside::disk_image
