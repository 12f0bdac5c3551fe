#include "views/comparison/limit.h"

#include <gtest/gtest.h>

namespace ringside::views {
namespace {

ComparedFunction function(const char* name, const char* image, double before, double after,
                          double p) {
  ComparedFunction function;
  function.name = name;
  function.image = image;
  function.kind =
      std::string_view(image) == "kernel" ? profile::Kind::kKernel : profile::Kind::kUser;
  for (ComparedShare* const share : {&function.self, &function.total}) {
    share->before = before;
    share->after = after;
    share->samples_before = share->samples_after = 100;
    share->difference = {after - before, 0.01, 0, p};
    share->corrected_p = p;
  }
  return function;
}

TEST(ChangeLimit, IsRead) {
  const auto limit = parse_limit("kernel:vfs_write > +2%", true);
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->place, "kernel");
  EXPECT_EQ(limit->name, "vfs_write");
  EXPECT_TRUE(limit->is_growth);
  EXPECT_EQ(limit->points, 2);
  const auto fall = parse_limit("ns::f<int>(long) < -0.5 %", true);
  ASSERT_TRUE(fall);
  EXPECT_EQ(fall->place, "");
  EXPECT_EQ(fall->name, "ns::f<int>(long)");
  EXPECT_FALSE(fall->is_growth);
  EXPECT_EQ(fall->points, -0.5);
  const auto any = parse_limit("> 1%", false);
  ASSERT_TRUE(any);
  EXPECT_EQ(any->name, "");
  EXPECT_EQ(parse_limit("libc.so.6:std::sort.isra.0>1%", true)->name, "std::sort");
  EXPECT_EQ(parse_limit("libc.so.6:std::sort.isra.0>1%", true)->place, "libc.so.6");
}

TEST(ChangeLimit, AWrongOneIsRefused) {
  for (const char* const text :
       {"", "x", "x > -1%", "x < 1%", "x > ", "x > 1", "x > a%", "x 1%", "> 1%", "x > nan%",
        "x > 1e9%", "x > 101%", ":x > 1%", "x: > 1%", "x > 1%%", "x > +%"})
    EXPECT_FALSE(parse_limit(text, true)) << text;
  for (const char* const text : {"x > 1%", "1%", "> 1"}) EXPECT_FALSE(parse_limit(text, false));
}

TEST(Breaches, AreOfTheFunctionThatWasNamed) {
  Comparison comparison;
  comparison.functions = {function("write", "kernel", 0.1, 0.15, 1e-6),
                          function("write", "libc", 0.1, 0.2, 1e-6),
                          function("read(int)", "kernel", 0.1, 0.05, 1e-6)};
  const auto names = [&](const char* text) {
    std::vector<std::string> found;
    const std::vector<ChangeLimit> limits = {*parse_limit(text, true)};
    for (const LimitBreach& breach : breaches(comparison, limits, 0.001))
      found.push_back(breach.function->image + (breach.is_sure ? "!" : "?"));
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("write > 2%"), (Names{"kernel!", "libc!"}));
  EXPECT_EQ(names("kernel:write > 2%"), (Names{"kernel!"}));
  EXPECT_EQ(names("user:write > 2%"), (Names{"libc!"}));
  EXPECT_EQ(names("libc:write > 2%"), (Names{"libc!"}));
  EXPECT_EQ(names("write > 6%"), (Names{"libc!"}));
  EXPECT_EQ(names("read < -2%"), (Names{"kernel!"}));
  EXPECT_EQ(names("read > 2%"), Names());
  EXPECT_EQ(names("other > 2%"), Names());
}

TEST(Breaches, NamesMayHaveColonsAndBrackets) {
  Comparison comparison;
  comparison.functions = {
      function("main (app.py:10)", "", 0.1, 0.2, 1e-6),
      function("(anonymous namespace)::f(int (*)(int)) const", "kernel", 0.1, 0.2, 1e-6),
      function("ns::F::operator()(int)", "kernel", 0.1, 0.2, 1e-6)};
  for (const char* const text :
       {"main (app.py:10) > 1%", "(anonymous namespace)::f > 1%", "ns::F::operator() > 1%",
        "kernel:(anonymous namespace)::f > 1%", "ns::F::operator()(int)\t> 1%"}) {
    const std::vector<ChangeLimit> limits = {*parse_limit(text, true)};
    EXPECT_EQ(functions_of(comparison, limits[0]).size(), 1u) << text;
  }
}

// Two limits, so the chance of each counts twice.
TEST(Breaches, AreSureBelowTheChanceForAllLimits) {
  Comparison comparison;
  comparison.functions = {function("a", "kernel", 0.1, 0.2, 0.0006)};
  const std::vector<ChangeLimit> one = {*parse_limit("a > 2%", true)};
  EXPECT_TRUE(breaches(comparison, one, 0.001).at(0).is_sure);
  const std::vector<ChangeLimit> two = {one[0], *parse_limit("a > 3%", true)};
  const auto found = breaches(comparison, two, 0.001);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FALSE(found[0].is_sure);
  EXPECT_DOUBLE_EQ(found[0].p, 0.0012);
}

TEST(Breaches, ALimitOfAnyFunctionIsOfAll) {
  Comparison comparison;
  comparison.functions = {function("a", "kernel", 0.1, 0.2, 1e-6),
                          function("b", "kernel", 0.1, 0.105, 1e-6),
                          function("c", "kernel", 0.1, 0.2, 0.5)};
  const std::vector<ChangeLimit> limits = {*parse_limit("> 1%", false)};
  const auto found = breaches(comparison, limits, 0.001);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].function->name, "a");
  EXPECT_TRUE(found[0].is_sure);
  EXPECT_EQ(found[1].function->name, "c");
  EXPECT_FALSE(found[1].is_sure);
}

}  // namespace
}  // namespace ringside::views
