#include "exporters/report/report_layout.h"

#include <algorithm>

#include "base/text_width.h"

namespace ringside::exporters {
namespace {

constexpr std::size_t kGap = 2;         // between columns
constexpr std::size_t kNameRoom = 32;   // what columns are left out for: room for a name …
constexpr std::size_t kLeastRoom = 16;  // … and what others are cut for

std::size_t width_of(const Cell& cell) { return cells_of(cell.text) + cells_of(cell.tail); }

std::size_t widest(const std::vector<Row>& rows, std::size_t column) {
  std::size_t width = 0;
  for (const Row& row : rows)
    if (column < row.size()) width = std::max(width, width_of(row[column]));
  return width;
}

// Cells of all columns but the last, with the gaps behind them.
std::size_t before_last(const std::vector<Layout>& layouts) {
  std::size_t width = 0;
  for (std::size_t i = 0; i + 1 < layouts.size(); ++i) width += layouts[i].width + kGap;
  return width;
}

void cut(Cell& cell, std::size_t width) {
  if (width_of(cell) <= width) return;
  if (cells_of(cell.tail) + kLeastRoom / 2 > width) cell.tail.clear();
  cell.text = cut_middle(cell.text, std::max<std::size_t>(1, width - cells_of(cell.tail)));
}

void remove_column(std::vector<Layout>& layouts, std::vector<Row>& rows, std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  layouts.erase(layouts.begin() + at);
  for (Row& row : rows) row.erase(row.begin() + at);
}

// False: every column that may go is gone.
bool leave_one_out(std::vector<Layout>& layouts, std::vector<Row>& rows) {
  std::size_t first = layouts.size();
  for (std::size_t i = 0; i + 1 < layouts.size(); ++i)
    if (layouts[i].leaves != 0 &&
        (first == layouts.size() || layouts[i].leaves < layouts[first].leaves))
      first = i;
  if (first == layouts.size()) return false;
  remove_column(layouts, rows, first);
  return true;
}

// The widest column of text that is wider than its name; nullptr: there is none.
Layout* widest_text(std::vector<Layout>& layouts) {
  Layout* found = nullptr;
  for (std::size_t i = 0; i + 1 < layouts.size(); ++i) {
    Layout& layout = layouts[i];
    if (layout.right || layout.width <= layout.name.size()) continue;
    if (found == nullptr || layout.width > found->width) found = &layout;
  }
  return found;
}

}  // namespace

std::vector<Layout> layouts_of(ReportColumn column) {
  switch (column) {
    case ReportColumn::kOverhead:
      return {{"Overhead", 10, true}};
    case ReportColumn::kChildren:
      return {{"Children", 8, true, 3}};
    case ReportColumn::kSamples:
      return {{"Samples", 9, true, 2}};
    case ReportColumn::kComm:
      return {{"Command", 15}};  // Linux' longest
    case ReportColumn::kCgroup:
      return {{"Cgroup", 6}};
    case ReportColumn::kPid:
      return {{"Pid", 7, true}};
    case ReportColumn::kTid:
      return {{"Tid", 7, true}};
    case ReportColumn::kVcpu:
      return {{"vCPU", 4, true, 1}};
    case ReportColumn::kDso:
      return {{"Shared Object", 13}};
    case ReportColumn::kSymbol:
      return {{"Kind", 9, false, 4}, {"Symbol", 14}};
    case ReportColumn::kParent:
      return {{"Parent symbol", 13}};
  }
  return {};
}

void widen(std::vector<Layout>& layouts, const std::vector<Row>& rows) {
  const std::size_t widened = layouts.size() - (layouts.back().right ? 0 : 1);
  for (std::size_t i = 0; i < widened; ++i)
    layouts[i].width = std::max(layouts[i].width, widest(rows, i));
}

void fit(std::vector<Layout>& layouts, std::vector<Row>& rows, std::size_t width,
         bool may_leave_out) {
  const std::size_t names = std::min(widest(rows, layouts.size() - 1), kNameRoom);
  while (may_leave_out && before_last(layouts) + names > width && leave_one_out(layouts, rows)) {
  }
  for (Layout* layout = widest_text(layouts);
       layout != nullptr && before_last(layouts) + kLeastRoom > width;
       layout = widest_text(layouts))
    --layout->width;
  const std::size_t before = before_last(layouts);
  const std::size_t room = width > before ? width - before : 1;
  if (!layouts.back().right) layouts.back().width = std::min(layouts.back().width, room);
  for (Row& row : rows) {
    for (std::size_t i = 0; i < layouts.size(); ++i)
      if (!layouts[i].right) cut(row[i], i + 1 == layouts.size() ? room : layouts[i].width);
    const std::size_t used = before + layouts.back().width + kGap;
    if (row.size() > layouts.size()) cut(row.back(), width > used ? width - used : 1);
  }
}

}  // namespace ringside::exporters
