#include "exporters/report_table.h"

#include <algorithm>
#include <string>
#include <vector>

#include "exporters/units.h"
#include "profile/spelling.h"

namespace ringside::exporters {
namespace {

using profile::Profile;
using views::OverheadRow;
using views::OverheadSection;
using Column = ReportColumn;

// How a column looks. The names are perf's where perf has the column.
struct Layout {
  std::string_view name;
  std::size_t width = 0;  // at least
  bool right = false;
};

// A ReportColumn is one of these, but that kSymbol is two.
std::vector<Layout> layouts_of(Column column) {
  switch (column) {
    case Column::kOverhead:
      return {{"Overhead", 10, true}};
    case Column::kChildren:
      return {{"Children", 8, true}};
    case Column::kSamples:
      return {{"Samples", 9, true}};
    case Column::kComm:
      return {{"Command", 15}};  // Linux' longest
    case Column::kCgroup:
      return {{"Cgroup", 6}};
    case Column::kPid:
      return {{"Pid", 7, true}};
    case Column::kTid:
      return {{"Tid", 7, true}};
    case Column::kVcpu:
      return {{"vCPU", 4, true}};
    case Column::kDso:
      return {{"Shared Object", 13}};
    case Column::kSymbol:
      return {{"Kind", 9}, {"Symbol", 14}};
    case Column::kParent:
      return {{"Parent symbol", 13}};
  }
  return {};
}

// Text in code points, as a terminal counts them.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

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
    // Room for "# "; nothing stands behind the last column.
    if (layouts_[0].right)
      layouts_[0].width = std::max(layouts_[0].width, layouts_[0].name.size() + 2);
    const std::size_t fitted = layouts_.size() - (layouts_.back().right ? 0 : 1);
    for (std::size_t i = 0; i < fitted; ++i)
      for (const Row& row : rows_)
        layouts_[i].width = std::max(layouts_[i].width, width_of(row[i]));
    std::vector<std::string> names;
    std::vector<std::string> dots;
    for (const Layout& layout : layouts_) {
      names.emplace_back(layout.name);
      // The first one begins behind "# ".
      dots.emplace_back(layout.width - (names.size() == 1 && layout.right ? 1 : 0), '.');
    }
    const bool indents = !layouts_.front().right;
    const std::string mark = indents ? "# " : "#";
    const std::string margin = indents ? "  " : "";
    RINGSIDE_TRY(sink.write(mark + line(names) + mark + line(dots) + "#\n"));
    for (const Row& row : rows_) RINGSIDE_TRY(sink.write(margin + line(row)));
    if (hidden_ != 0) RINGSIDE_TRY(sink.write(margin + line(rest())));
    return sink.write("\n");
  }

 private:
  using Row = std::vector<std::string>;

  // Rows that are too small, or too many, become one.
  void fill() {
    for (const OverheadRow& row : section_.rows) {
      const bool by_self = options_.overhead.sort == views::OverheadOptions::Sort::kSelf;
      const std::uint64_t weight = by_self ? row.self : row.total;
      const bool small = static_cast<double>(weight) * 100 <
                         options_.minimum_percent * static_cast<double>(section_.sampled);
      if (small || (options_.maximum_rows != 0 && rows_.size() >= options_.maximum_rows)) {
        rest_.self += row.self;
        rest_.self_samples += row.self_samples;
        ++hidden_;
      } else {
        rows_.push_back(cells_of(row));
      }
    }
  }

  [[nodiscard]] Row rest() const {
    const bool are_functions =
        options_.overhead.keys == std::vector<views::SortKey>{views::SortKey::kSymbol};
    Row row;
    for (const Column column : options_.columns) {
      const bool tells = column == Column::kOverhead || column == Column::kSamples ||
                         (column == Column::kVcpu && are_functions);
      if (tells)
        add_cells(column, rest_, row);
      else
        row.resize(row.size() + layouts_of(column).size());
    }
    row.push_back(fmt::format("({} more {})", hidden_, are_functions ? "functions" : "rows"));
    // Nothing stands in the last column where it is one of text.
    if (!layouts_.back().right) row.erase(row.end() - 2);
    return row;
  }

  [[nodiscard]] Row cells_of(const OverheadRow& row) const {
    Row cells;
    for (const Column column : options_.columns) add_cells(column, row, cells);
    return cells;
  }

  void add_cells(Column column, const OverheadRow& row, Row& cells) const {
    switch (column) {
      case Column::kOverhead:
        cells.push_back(format_percent(row.self, section_.sampled) + "%");
        break;
      case Column::kChildren:
        cells.push_back(format_percent(row.total, section_.sampled) + "%");
        break;
      case Column::kSamples:
        cells.push_back(std::to_string(row.self_samples));
        break;
      case Column::kComm:
        cells.emplace_back(row.comm == 0 ? profile::kNobodyName : profile_.strings[row.comm]);
        break;
      case Column::kCgroup:
        cells.emplace_back(row.cgroup == 0 ? profile::kNobodyName : profile_.strings[row.cgroup]);
        break;
      case Column::kPid:
        cells.push_back(number(row.pid));
        break;
      case Column::kTid:
        cells.push_back(number(row.tid));
        break;
      case Column::kVcpu:
        cells.push_back(vcpu_of(row));
        break;
      case Column::kDso:
        cells.emplace_back(row.image == 0 ? profile::kNobodyName : profile_.strings[row.image]);
        break;
      case Column::kSymbol:
        cells.emplace_back(name_of(row.kind));
        cells.push_back(symbol_of(row));
        break;
      case Column::kParent:
        cells.emplace_back(row.parent ? name_of(*row.parent) : "[other]");  // perf's word
        break;
    }
  }

  [[nodiscard]] std::string vcpu_of(const OverheadRow& row) const {
    const std::optional<VcpuId> vcpu = row.vcpu ? row.vcpu : section_.vcpu;
    return vcpu ? std::to_string(vcpu->value) : "all";
  }

  [[nodiscard]] std::string_view name_of(profile::FunctionId function) const {
    return profile_.strings[profile_.functions[function].name];
  }
  [[nodiscard]] static std::string_view name_of(profile::Kind kind) {
    return profile::name_of(kind);
  }

  [[nodiscard]] std::string symbol_of(const OverheadRow& row) const {
    std::string text(row.function ? name_of(*row.function) : std::string_view());
    if (row.inlined) text += kInlined;
    if (shows_image_ && row.image != 0) text += fmt::format("  [{}]", profile_.strings[row.image]);
    return text;
  }

  [[nodiscard]] std::string line(const Row& cells) const {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i != 0) text += "  ";
      const Layout layout = i < layouts_.size() ? layouts_[i] : Layout{};
      const std::size_t width = width_of(cells[i]);
      const std::string gap(layout.width > width ? layout.width - width : 0, ' ');
      if (layout.right)
        text += gap + cells[i];
      else
        text += cells[i] + (i + 1 < cells.size() ? gap : "");
    }
    return text + "\n";
  }

  const Profile& profile_;
  const OverheadSection& section_;
  const ReportOptions& options_;
  bool shows_image_ = false;  // behind the symbol, where it has no column
  std::vector<Layout> layouts_;
  std::vector<Row> rows_;
  OverheadRow rest_;  // of rows that are not shown
  std::size_t hidden_ = 0;
};

}  // namespace

Result<void> write_table(const Profile& profile, const OverheadSection& section,
                         const ReportOptions& options, Sink& sink) {
  return Table(profile, section, options).write(sink);
}

}  // namespace ringside::exporters
