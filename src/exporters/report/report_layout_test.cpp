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
          ReportColumn::kComm, ReportColumn::kDso, ReportColumn::kSymbol}) {
      layouts_.push_back(layout_of(column));
      layouts_.back().width = layouts_.back().name.size();
    }
    add({{"12.00%"},
         {"20.00%"},
         {"1200"},
         {"busybox"},
         {"libm-2.31.so"},
         {"[.] a_function_of_fifty_characters_whose_end_tells_much", "  [x]"}});
    add({{"1.00%"}, {"2.00%"}, {"100"}, {"sh"}, {"kernel"}, {"[k] f"}});
    widen(layouts_);
  }

  void add(const std::vector<Cell>& cells) {
    Row& row = rows_.emplace_back();
    for (const Cell& cell : cells) row.add() = cell;
    measure(row, layouts_);
  }

  void fit_all(std::size_t width, bool may_leave_out) {
    fit(layouts_, width, may_leave_out);
    for (Row& row : rows_) cut(row, layouts_, width);
  }

  // The names of the columns that stay.
  Names names() const {
    Names names;
    for (const Layout& layout : layouts_)
      if (!layout.is_left_out) names.push_back(layout.name);
    return names;
  }
  Cell& name() { return rows_[0][rows_[0].size() - 1]; }
  // Cells of the widest row.
  std::size_t width() {
    std::size_t width = 0;
    for (const Row& row : rows_) {
      const Cell& last = row[row.size() - 1];
      std::size_t here = cells_of(last.text + last.tail);
      for (std::size_t i = 0; i + 1 < layouts_.size(); ++i)
        if (!layouts_[i].is_left_out) here += layouts_[i].width + 2;
      width = std::max(width, here);
    }
    return width;
  }

  std::vector<Layout> layouts_;
  std::vector<Row> rows_;
};

TEST_F(ReportLayout, NothingIsCutWhereThereIsRoom) {
  const std::string whole_name = name().text;
  const std::size_t whole = width();
  fit_all(whole, true);
  EXPECT_EQ(names().size(), 6u);
  EXPECT_EQ(name().text, whole_name);
  EXPECT_EQ(width(), whole);
}

TEST_F(ReportLayout, ColumnsThatShowLeastGoFirst) {
  fit_all(77, true);
  EXPECT_EQ(names(), (Names{"Overhead", "Children", "Command", "Shared Object", "Symbol"}));
  EXPECT_EQ(rows_[0][3].text, "busybox");
  fit_all(67, true);
  EXPECT_EQ(names(), (Names{"Overhead", "Command", "Shared Object", "Symbol"}));
  EXPECT_LE(width(), 67u);
}

TEST_F(ReportLayout, ColumnsThatWereAskedForStay) {
  fit_all(80, false);
  EXPECT_EQ(names().size(), 6u);
  EXPECT_LE(width(), 80u);
  EXPECT_NE(name().text.find("…"), std::string::npos);
}

TEST_F(ReportLayout, ATailStaysWhereThereIsRoomForAName) {
  fit_all(90, true);
  EXPECT_EQ(name().tail, "  [x]");
  EXPECT_TRUE(name().text.ends_with("tells_much"));
}

TEST(ReportRow, HasNothingOfTheRowBefore) {
  Row row;
  row.add() = {"text", "tail", Colour::kRed};
  row.clear();
  EXPECT_EQ(row.size(), 0u);
  row.pad(2);
  EXPECT_EQ(row.size(), 2u);
  EXPECT_EQ(row[0].text + row[0].tail, "");
  EXPECT_FALSE(row[0].colour);
}

}  // namespace
}  // namespace ringside::exporters
