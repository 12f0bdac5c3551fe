#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/report/report_column.h"
#include "exporters/sink.h"

// The columns of a report's table, and how they are made to fit a terminal.
namespace ringside::exporters {

struct Cell {
  std::string text;
  std::string tail = {};  // behind it, and not cut before it
  std::optional<Colour> colour = {};
};

// The cells of a row. Their strings keep their memory for the next row.
class Row {
 public:
  void clear() { size_ = 0; }
  // An empty cell, behind the others.
  Cell& add();
  // Empty cells, up to so many in all.
  void pad(std::size_t size) {
    while (size_ < size) add();
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Cell& operator[](std::size_t column) { return cells_[column]; }
  [[nodiscard]] const Cell& operator[](std::size_t column) const { return cells_[column]; }

 private:
  std::vector<Cell> cells_;
  std::size_t size_ = 0;  // of cells_ that the row has
};

// How a column looks. The names are perf's where perf has the column.
struct Layout {
  std::string_view name;
  std::size_t width = 0;  // in cells, at least
  bool right = false;
  int leaves = 0;  // where room is scarce the column with the least number goes first; 0: it stays
  std::size_t widest = 0;  // cells of what stands in it
  bool is_left_out = false;
};

[[nodiscard]] Layout layout_of(ReportColumn column);

// Each row is to be measured before what follows. A row may have one cell more than there are
// columns.
void measure(const Row& row, std::vector<Layout>& layouts);

// Widens columns to what stands in them, but for text in the last one, behind which nothing stands.
void widen(std::vector<Layout>& layouts);

// Makes widened columns fit into `width` cells: leaves some out where `may_leave_out`, then narrows
// those of text.
void fit(std::vector<Layout>& layouts, std::size_t width, bool may_leave_out);

// Cuts what stands in the cells of a row for columns that fit into `width` cells.
void cut(Row& row, const std::vector<Layout>& layouts, std::size_t width);

// Before the names of columns. Rows are as far from the margin.
inline constexpr std::string_view kMark = "# ";
// The names of the columns, a line of dots, and an empty comment.
[[nodiscard]] Result<void> write_heading(const std::vector<Layout>& layouts, Sink& sink);
// A row of cells as wide as their columns, in their colours.
[[nodiscard]] Result<void> write_row(const Row& row, const std::vector<Layout>& layouts,
                                     Sink& sink);

}  // namespace ringside::exporters
