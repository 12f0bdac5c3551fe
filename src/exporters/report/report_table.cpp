#include "exporters/report/report_table.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text_width.h"
#include "exporters/report/report_layout.h"
#include "exporters/units.h"
#include "profile/sanitize.h"

namespace ringside::exporters {
namespace {

using profile::Profile;
using views::OverheadRow;
using views::OverheadSection;
using Column = ReportColumn;

template <class T>
std::string number(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "-";
}

class Table {
 public:
  Table(const Profile& profile, const OverheadSection& section, const ReportOptions& options)
      : profile_(profile), section_(section), options_(options) {
    for (const Column column : options.columns)
      for (const Layout& layout : layouts_of(column)) layouts_.push_back(layout);
    shows_image_ = std::find(options.columns.begin(), options.columns.end(), Column::kDso) ==
                   options.columns.end();
  }

  Result<void> write(Sink& sink) {
    fill();
    const bool indents = !layouts_.front().right;
    const std::string mark = indents ? "# " : "#";
    const std::string margin = indents ? "  " : "";
    if (options_.width != 0)
      for (Layout& layout : layouts_) layout.width = layout.name.size();
    // Room for "# ".
    if (!indents) layouts_[0].width = std::max(layouts_[0].width, layouts_[0].name.size() + 2);
    widen(layouts_, rows_);
    if (hidden_ != 0) rows_.push_back(rest());
    if (options_.width != 0)
      fit(layouts_, rows_, options_.width - mark.size(), options_.may_leave_out_columns);
    Row names;
    Row dots;
    for (const Layout& layout : layouts_) {
      names.push_back({std::string(layout.name)});
      // The first one begins behind "# ".
      dots.push_back({std::string(layout.width - (names.size() == 1 && !indents ? 1 : 0), '.')});
    }
    RINGSIDE_TRY(sink.write(mark));
    RINGSIDE_TRY(write_line(names, sink));
    RINGSIDE_TRY(sink.write(mark));
    RINGSIDE_TRY(write_line(dots, sink));
    RINGSIDE_TRY(sink.write("#\n"));
    for (const Row& row : rows_) {
      RINGSIDE_TRY(sink.write(margin));
      RINGSIDE_TRY(write_line(row, sink));
    }
    return sink.write("\n");
  }

 private:
  // Rows that are too small, or too many, become one.
  void fill() {
    for (const OverheadRow& row : section_.rows) {
      const bool by_self = options_.overhead.sort == views::OverheadOptions::Sort::kSelf;
      const std::uint64_t weight = profile::extent_of(by_self ? row.self : row.total);
      const bool small = static_cast<double>(weight) * 100 <
                         options_.minimum_percent * static_cast<double>(section_.extent);
      if (small || (options_.maximum_rows != 0 && rows_.size() >= options_.maximum_rows)) {
        rest_.self += row.self;
        rest_.self_samples += row.self_samples;
        ++hidden_;
      } else {
        rows_.push_back(shown(row));
      }
    }
  }

  [[nodiscard]] Row rest() const {
    const bool are_functions =
        options_.overhead.keys == std::vector<views::SortKey>{views::SortKey::kSymbol};
    Row row;
    for (const Column column : options_.columns) {
      const bool matters = column == Column::kOverhead || column == Column::kSamples ||
                           (column == Column::kVcpu && are_functions);
      if (matters)
        add_cells(column, rest_, row);
      else
        row.resize(row.size() + layouts_of(column).size());
    }
    row.push_back({fmt::format("({} more {})", hidden_, are_functions ? "functions" : "rows")});
    // Nothing stands in the last column where it is one of text.
    if (!layouts_.back().right) row.erase(row.end() - 2);
    return row;
  }

  [[nodiscard]] Row shown(const OverheadRow& row) const {
    Row cells;
    cells.reserve(layouts_.size());
    for (const Column column : options_.columns) add_cells(column, row, cells);
    return cells;
  }

  void add_cells(Column column, const OverheadRow& row, Row& cells) const {
    switch (column) {
      case Column::kOverhead:
        cells.push_back(share(row.self));
        break;
      case Column::kChildren:
        cells.push_back(share(row.total));
        break;
      case Column::kSamples:
        cells.push_back({std::to_string(row.self_samples)});
        break;
      case Column::kComm:
        cells.push_back(name_or_nobody(row.comm));
        break;
      case Column::kCgroup:
        cells.push_back(name_or_nobody(row.cgroup));
        break;
      case Column::kPid:
        cells.push_back({number(row.pid)});
        break;
      case Column::kTid:
        cells.push_back({number(row.tid)});
        break;
      case Column::kVcpu:
        cells.push_back({vcpu_of(row)});
        break;
      case Column::kDso:
        cells.push_back(name_or_nobody(row.image));
        break;
      case Column::kSymbol:
        cells.push_back({std::string(profile::name_of(row.kind))});
        cells.push_back(symbol_of(row));
        break;
      case Column::kParent:
        cells.push_back(
            {row.parent ? name_of(*row.parent) : std::string("[other]")});  // perf's word
        break;
    }
  }

  [[nodiscard]] Cell share(profile::Weight weight) const {
    return {format_share(weight, section_.extent) + "%",
            {},
            colour_of_share(profile::extent_of(weight), section_.extent)};
  }

  [[nodiscard]] Cell name_or_nobody(profile::StringId name) const {
    return {std::string(name == 0 ? profile::kNobodyName : profile_.strings[name])};
  }

  [[nodiscard]] std::string vcpu_of(const OverheadRow& row) const {
    const std::optional<VcpuId> vcpu = row.vcpu ? row.vcpu : section_.vcpu;
    if (vcpu == recording::kNoVcpu) return "-";
    return vcpu ? std::to_string(vcpu->value) : "all";
  }

  [[nodiscard]] std::string name_of(profile::FunctionId function) const {
    return std::string(profile_.strings[profile_.functions[function].name]);
  }

  [[nodiscard]] Cell symbol_of(const OverheadRow& row) const {
    Cell cell{row.function ? name_of(*row.function) : std::string()};
    if (row.inlined) cell.tail += kInlined;
    if (shows_image_ && row.image != 0)
      cell.tail += fmt::format("  [{}]", profile_.strings[row.image]);
    return cell;
  }

  Result<void> write_line(const Row& cells, Sink& sink) {
    line_.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i != 0) line_ += "  ";
      const Layout layout = i < layouts_.size() ? layouts_[i] : Layout{};
      const Cell& cell = cells[i];
      const std::size_t width = cells_of(cell.text) + cells_of(cell.tail);
      const std::size_t gap = layout.width > width ? layout.width - width : 0;
      if (layout.right) line_.append(gap, ' ');
      if (cell.colour) {
        RINGSIDE_TRY(sink.write(line_));
        line_.clear();
        RINGSIDE_TRY(sink.paint(cell.text + cell.tail, *cell.colour));
      } else {
        line_ += cell.text;
        line_ += cell.tail;
      }
      if (!layout.right && i + 1 < cells.size()) line_.append(gap, ' ');
    }
    line_ += '\n';
    return sink.write(line_);
  }

  const Profile& profile_;
  const OverheadSection& section_;
  const ReportOptions& options_;
  bool shows_image_ = false;  // behind the symbol, where it has no column
  std::vector<Layout> layouts_;
  std::vector<Row> rows_;
  std::string line_;  // reused
  OverheadRow rest_;  // of rows that are not shown
  std::size_t hidden_ = 0;
};

}  // namespace

Result<void> write_table(const Profile& profile, const OverheadSection& section,
                         const ReportOptions& options, Sink& sink) {
  return Table(profile, section, options).write(sink);
}

}  // namespace ringside::exporters
