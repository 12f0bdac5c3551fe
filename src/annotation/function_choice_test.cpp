#include "annotation/function_choice.h"

#include <gtest/gtest.h>

#include "annotation/annotation_test_util.h"

namespace ringside::annotation {
namespace {

class FunctionChoiceTest : public ::testing::Test {
 protected:
  FunctionChoiceTest() {
    const auto* const kernel = made_.image("kernel");
    made_.add(kernel, 0x1000, 0, {"schedule"}, 10);
    made_.add(kernel, 0x1000, 4, {"schedule", "pick_next"}, 5);
    made_.add(kernel, 0x2000, 8, {"wake_up", "pick_next"}, 20);
    made_.add(kernel, 0x3000, 0, {"init(int)"}, 1);
    made_.add(kernel, 0x4000, 0, {"init(long)"}, 2);
    made_.add(kernel, 0x5000, 0, {"helper"}, 3);
    made_.add(kernel, 0x6000, 0, {"helper"}, 4);
  }

  // "name start weight" of each.
  std::vector<std::string> chosen(std::string_view name) {
    const auto found = choose_functions(made_.sums, made_.strings, name);
    if (!found) return {found.error().message};
    std::vector<std::string> texts;
    for (const SampledFunction& function : *found)
      texts.push_back(fmt::format("{} {} {}", made_.strings[function.front().functions.front()],
                                  function.front().symbol.start, function.sum.weight));
    return texts;
  }

  testing::MadeSums made_;
};

using Texts = std::vector<std::string>;

TEST_F(FunctionChoiceTest, AFunctionHasWhatIsInlinedIntoIt) {
  EXPECT_EQ(chosen("schedule"), Texts{"schedule 0x1000 15"});
}

TEST_F(FunctionChoiceTest, AFunctionThatIsOnlyInlinedIsShownByPlace) {
  EXPECT_EQ(chosen("pick_next"), (Texts{"wake_up 0x2000 20", "schedule 0x1000 5"}));
  EXPECT_EQ(chosen("pick_next (inlined)"), chosen("pick_next"));
  const auto found = choose_functions(made_.sums, made_.strings, "pick_next");
  ASSERT_TRUE(found);
  EXPECT_EQ(made_.strings[found->front().inlined], "pick_next");
}

TEST_F(FunctionChoiceTest, FunctionsOfOneNameAreHeaviestFirst) {
  EXPECT_EQ(chosen("helper"), (Texts{"helper 0x6000 4", "helper 0x5000 3"}));
}

TEST_F(FunctionChoiceTest, ParametersMayBeLeftOut) {
  EXPECT_EQ(chosen("init"), (Texts{"init(long) 0x4000 2", "init(int) 0x3000 1"}));
  EXPECT_EQ(chosen("init(int)"), Texts{"init(int) 0x3000 1"});
}

TEST_F(FunctionChoiceTest, AllFunctionsWithoutAName) {
  EXPECT_EQ(chosen("").size(), 6u);
  EXPECT_EQ(chosen("").front(), "wake_up 0x2000 20");
}

TEST_F(FunctionChoiceTest, AnUnknownName) {
  EXPECT_EQ(chosen("schedul"),
            Texts{"no sample is in a function schedul; there are similar names: schedule"});
  EXPECT_EQ(choose_functions(made_.sums, made_.strings, "zz").error().code, ErrorCode::kNotFound);
}

TEST_F(FunctionChoiceTest, OneProgramInTwoAddressSpacesIsOneFunction) {
  made_.add(made_.image("sh", 0x10000), 0x17000, 2, {"main"}, 1);
  made_.add(made_.image("sh", 0x20000), 0x27000, 6, {"main"}, 2);
  made_.add(made_.image("ls", 0x20000), 0x27000, 6, {"main"}, 8);
  EXPECT_EQ(chosen("main"), (Texts{"main 0x27000 8", "main 0x17000 3"}));
}

}  // namespace
}  // namespace ringside::annotation
