#include "exporters/report/report_layout.h"

#include <gtest/gtest.h>

#include "base/text_width.h"

namespace ringside::exporters {
namespace {

using Names = std::vector<std::string_view>;

class ReportLayout : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const ReportColumn column :
         {ReportColumn::kOverhead, ReportColumn::kChildren, ReportColumn::kSamples,
          ReportColumn::kComm, ReportColumn::kDso, ReportColumn::kSymbol})
      for (Layout layout : layouts_of(column)) {
        layout.width = layout.name.size();
        layouts_.push_back(layout);
      }
    rows_ = {{{"12.00%"},
              {"20.00%"},
              {"1200"},
              {"busybox"},
              {"libm-2.31.so"},
              {"user"},
              {"a_function_of_fifty_characters_whose_end_tells_much", "  [x]"}},
             {{"1.00%"}, {"2.00%"}, {"100"}, {"sh"}, {"kernel"}, {"interrupt"}, {"f"}}};
    widen(layouts_, rows_);
  }

  Names names() const {
    Names names;
    for (const Layout& layout : layouts_) names.push_back(layout.name);
    return names;
  }
  // Cells of the widest row.
  std::size_t width() const {
    std::size_t width = 0;
    for (const Row& row : rows_) {
      std::size_t here = 2 * (layouts_.size() - 1) + cells_of(row.back().text + row.back().tail);
      for (std::size_t i = 0; i + 1 < layouts_.size(); ++i) here += layouts_[i].width;
      width = std::max(width, here);
    }
    return width;
  }

  std::vector<Layout> layouts_;
  std::vector<Row> rows_;
};

TEST_F(ReportLayout, NothingIsCutWhereThereIsRoom) {
  const auto rows = rows_;
  const std::size_t whole = width();
  fit(layouts_, rows_, whole, true);
  EXPECT_EQ(layouts_.size(), 7u);
  EXPECT_EQ(rows_[0].back().text, rows[0].back().text);
  EXPECT_EQ(width(), whole);
}

TEST_F(ReportLayout, ColumnsThatShowLeastGoFirst) {
  const Names all = names();
  fit(layouts_, rows_, 90, true);
  EXPECT_EQ(names(), (Names{"Overhead", "Children", "Command", "Shared Object", "Kind", "Symbol"}));
  EXPECT_EQ(rows_[0].size(), 6u);
  EXPECT_EQ(rows_[0][2].text, "busybox");
  fit(layouts_, rows_, 80, true);
  EXPECT_EQ(names(), (Names{"Overhead", "Command", "Shared Object", "Kind", "Symbol"}));
  fit(layouts_, rows_, 60, true);
  EXPECT_EQ(names(), (Names{"Overhead", "Command", "Shared Object", "Symbol"}));
  EXPECT_LE(width(), 60u);
}

TEST_F(ReportLayout, ColumnsThatWereAskedForStay) {
  fit(layouts_, rows_, 80, false);
  EXPECT_EQ(layouts_.size(), 7u);
  EXPECT_LE(width(), 80u);
  EXPECT_NE(rows_[0].back().text.find("…"), std::string::npos);
}

TEST_F(ReportLayout, ATailStaysWhereThereIsRoomForAName) {
  fit(layouts_, rows_, 90, true);
  EXPECT_EQ(rows_[0].back().tail, "  [x]");
  EXPECT_TRUE(rows_[0].back().text.ends_with("tells_much"));
}

}  // namespace
}  // namespace ringside::exporters
