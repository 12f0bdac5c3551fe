#include "exporters/report/report_layout.h"

#include <algorithm>
#include <utility>

#include "base/text_width.h"

namespace ringside::exporters {
namespace {

constexpr std::size_t kGap = 2;         // between columns
constexpr std::size_t kNameRoom = 32;   // what columns are left out for: room for a name …
constexpr std::size_t kLeastRoom = 16;  // … and what others are cut for

std::size_t width_of(const Cell& cell) { return cells_of(cell.text) + cells_of(cell.tail); }

// Cells of all columns but the last, with the gaps behind them.
std::size_t before_last(const std::vector<Layout>& layouts) {
  std::size_t width = 0;
  for (std::size_t i = 0; i + 1 < layouts.size(); ++i)
    if (!layouts[i].is_left_out) width += layouts[i].width + kGap;
  return width;
}

void cut(Cell& cell, std::size_t width) {
  if (width_of(cell) <= width) return;
  if (cells_of(cell.tail) + kLeastRoom / 2 > width) cell.tail.clear();
  cell.text = cut_middle(cell.text, std::max<std::size_t>(1, width - cells_of(cell.tail)));
}

// False: every column that may go is gone.
bool leave_one_out(std::vector<Layout>& layouts) {
  Layout* first = nullptr;
  for (std::size_t i = 0; i + 1 < layouts.size(); ++i) {
    Layout& layout = layouts[i];
    if (layout.leaves == 0 || layout.is_left_out) continue;
    if (first == nullptr || layout.leaves < first->leaves) first = &layout;
  }
  if (first != nullptr) first->is_left_out = true;
  return first != nullptr;
}

// The widest column of text that is wider than its name; nullptr: there is none.
Layout* widest_text(std::vector<Layout>& layouts) {
  Layout* found = nullptr;
  for (std::size_t i = 0; i + 1 < layouts.size(); ++i) {
    Layout& layout = layouts[i];
    if (layout.right || layout.is_left_out || layout.width <= layout.name.size()) continue;
    if (found == nullptr || layout.width > found->width) found = &layout;
  }
  return found;
}

// Cells for the last column in a line of `width`.
std::size_t room_for_last(const std::vector<Layout>& layouts, std::size_t width) {
  const std::size_t before = before_last(layouts);
  return width > before ? width - before : 1;
}

Result<void> write_cells(const Row& row, const std::vector<Layout>& layouts, Sink& sink) {
  static thread_local std::string line;  // keeps its memory
  line.clear();
  bool is_first = true;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Layout layout = i < layouts.size() ? layouts[i] : Layout{};
    if (layout.is_left_out) continue;
    if (!std::exchange(is_first, false)) line.append(kGap, ' ');
    const Cell& cell = row[i];
    const std::size_t width = width_of(cell);
    const std::size_t gap = layout.width > width ? layout.width - width : 0;
    if (layout.right) line.append(gap, ' ');
    if (cell.colour) {
      RINGSIDE_TRY(sink.write(line));
      line.clear();
      RINGSIDE_TRY(sink.paint(cell.text + cell.tail, *cell.colour));
    } else {
      line += cell.text;
      line += cell.tail;
    }
    if (!layout.right && i + 1 < row.size()) line.append(gap, ' ');
  }
  line += '\n';
  return sink.write(line);
}

}  // namespace

Cell& Row::add() {
  if (size_ == cells_.size()) cells_.emplace_back();
  Cell& cell = cells_[size_++];
  cell.text.clear();
  cell.tail.clear();
  cell.colour.reset();
  return cell;
}

Layout layout_of(ReportColumn column) {
  switch (column) {
    case ReportColumn::kOverhead:
      return {"Overhead", 8, true};
    case ReportColumn::kSelf:
      return {"Self", 8, true};
    case ReportColumn::kChildren:
      return {"Children", 8, true, 3};
    case ReportColumn::kSys:
      return {"sys", 8, true};
    case ReportColumn::kUser:
      return {"usr", 8, true};
    case ReportColumn::kGuestSys:
      return {"guest sys", 9, true};
    case ReportColumn::kGuestUser:
      return {"guest usr", 9, true};
    case ReportColumn::kSamples:
      return {"Samples", 12, true, 2};
    case ReportColumn::kPeriod:
      return {"Period", 12, true};
    case ReportColumn::kComm:
      return {"Command", 7};
    case ReportColumn::kCgroup:
      return {"Cgroup", 6};
    case ReportColumn::kTask:
      return {"    Pid:Command", 15};
    case ReportColumn::kTid:
      return {"    Tid:Command", 15};
    case ReportColumn::kPid:
      return {"   Tgid:Command", 15};
    case ReportColumn::kVcpu:
      return {"vCPU", 4, true, 1};
    case ReportColumn::kTime:
      return {"Time", 12};
    case ReportColumn::kDso:
      return {"Shared Object", 13};
    case ReportColumn::kSourceLine:
      return {"Source:Line", 11};
    case ReportColumn::kSymbol:
      return {"Symbol", 14};
    case ReportColumn::kParent:
      return {"Parent symbol", 13};
  }
  return {};
}

void measure(const Row& row, std::vector<Layout>& layouts) {
  for (std::size_t i = 0; i < std::min(row.size(), layouts.size()); ++i)
    layouts[i].widest = std::max(layouts[i].widest, width_of(row[i]));
}

void widen(std::vector<Layout>& layouts) {
  const std::size_t widened = layouts.size() - (layouts.back().right ? 0 : 1);
  for (std::size_t i = 0; i < widened; ++i)
    layouts[i].width = std::max(layouts[i].width, layouts[i].widest);
}

void fit(std::vector<Layout>& layouts, std::size_t width, bool may_leave_out) {
  const std::size_t names = std::min(layouts.back().widest, kNameRoom);
  while (may_leave_out && before_last(layouts) + names > width && leave_one_out(layouts)) {
  }
  for (Layout* layout = widest_text(layouts);
       layout != nullptr && before_last(layouts) + kLeastRoom > width;
       layout = widest_text(layouts))
    --layout->width;
  Layout& last = layouts.back();
  if (!last.right) last.width = std::min(last.width, room_for_last(layouts, width));
}

void cut(Row& row, const std::vector<Layout>& layouts, std::size_t width) {
  const std::size_t columns = layouts.size();
  for (std::size_t i = 0; i < columns; ++i)
    if (!layouts[i].right)
      cut(row[i], i + 1 == columns ? room_for_last(layouts, width) : layouts[i].width);
  const std::size_t used = before_last(layouts) + layouts.back().width + kGap;
  if (row.size() > columns) cut(row[columns], width > used ? width - used : 1);
}

Result<void> write_heading(const std::vector<Layout>& layouts, Sink& sink) {
  Row names;
  Row dots;
  for (const Layout& layout : layouts) {
    names.add().text = layout.name;
    dots.add().text.assign(layout.width, '.');
  }
  RINGSIDE_TRY(sink.write(kMark));
  RINGSIDE_TRY(write_cells(names, layouts, sink));
  RINGSIDE_TRY(sink.write(kMark));
  RINGSIDE_TRY(write_cells(dots, layouts, sink));
  return sink.write("#\n");
}

Result<void> write_row(const Row& row, const std::vector<Layout>& layouts, Sink& sink) {
  RINGSIDE_TRY(sink.write("  "));
  return write_cells(row, layouts, sink);
}

}  // namespace ringside::exporters
