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
using Row = std::vector<Cell>;

// How a column looks. The names are perf's where perf has the column.
struct Layout {
  std::string_view name;
  std::size_t width = 0;  // in cells, at least
  bool right = false;
  int leaves = 0;  // where room is scarce the column with the least number goes first; 0: it stays
};

// A ReportColumn is one of these, but that kSymbol is two.
[[nodiscard]] std::vector<Layout> layouts_of(ReportColumn column);

// Widens columns to what stands in them, but for text in the last one, behind which nothing stands.
void widen(std::vector<Layout>& layouts, const std::vector<Row>& rows);

// Makes widened columns fit into `width` cells: leaves some out of `layouts` and of each row where
// `may_leave_out`, then narrows those of text and cuts what stands in them. A row may have one cell
// more than there are columns.
void fit(std::vector<Layout>& layouts, std::vector<Row>& rows, std::size_t width,
         bool may_leave_out);

}  // namespace ringside::exporters
