#include "exporters/parts/csv_text.h"

#include <gtest/gtest.h>

namespace ringside::exporters {
namespace {

TEST(CsvText, HasQuotesWhereItNeedsThem) {
  EXPECT_EQ(csv_text(""), "");
  EXPECT_EQ(csv_text("a b"), "a b");
  EXPECT_EQ(csv_text("a,b"), R"("a,b")");
  EXPECT_EQ(csv_text(R"(a"b)"), R"("a""b")");
  EXPECT_EQ(csv_text("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_text("a;b"), R"("a;b")");
  EXPECT_EQ(csv_text("a\tb"), "\"a\tb\"");
}

TEST(CsvText, IsNoFormula) {
  for (const std::string begin : {"=", "+", "-", "@"}) {
    EXPECT_EQ(csv_text(begin + "1"), "'" + begin + "1");
    EXPECT_EQ(csv_text("a" + begin + "1"), "a" + begin + "1");
  }
  EXPECT_EQ(csv_text("\t=1"), "\"'\t'=1\"");
}

// Some spreadsheets begin a cell there.
TEST(CsvText, IsNoFormulaBehindASeparator) {
  for (const std::string separator : {";", "\t"}) {
    for (const std::string begin : {"=", "+", "-", "@"})
      EXPECT_EQ(csv_text("a" + separator + begin + "1"), "\"a" + separator + "'" + begin + "1\"");
    EXPECT_EQ(csv_text(separator + "=1").find(separator + "="), std::string::npos);
    EXPECT_EQ(csv_text("a" + separator + "b=1"), "\"a" + separator + "b=1\"");
  }
  EXPECT_EQ(csv_text("a;;=1;=2"), "\"a;;'=1;'=2\"");
}

}  // namespace
}  // namespace ringside::exporters
