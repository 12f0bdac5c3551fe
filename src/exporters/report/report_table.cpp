#include "exporters/report/report_table.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text_width.h"
#include "exporters/report/report_layout.h"
#include "exporters/report/row_choice.h"
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
      : profile_(profile), section_(section), options_(options), choice_(section, options) {
    for (const Column column : options.columns)
      for (const Layout& layout : layouts_of(column)) layouts_.push_back(layout);
    shows_image_ = std::find(options.columns.begin(), options.columns.end(), Column::kDso) ==
                   options.columns.end();
  }

  Result<void> write(Sink& sink) {
    const std::size_t mark = mark_of(layouts_).size();
    lay_out(mark);
    RINGSIDE_TRY(write_heading(layouts_, sink));
    for (std::size_t number = 0; number < count(); ++number) {
      make(number);
      if (options_.width != 0) cut(row_, layouts_, options_.width - mark);
      RINGSIDE_TRY(write_row(row_, layouts_, sink));
    }
    return sink.write("\n");
  }

 private:
  void lay_out(std::size_t margin) {
    if (options_.width != 0)
      for (Layout& layout : layouts_) layout.width = layout.name.size();
    make_room_for_mark(layouts_);
    for (std::size_t number = 0; number < count(); ++number) {
      make(number);
      measure(row_, layouts_);
    }
    widen(layouts_);
    if (options_.width != 0) fit(layouts_, options_.width - margin, options_.may_leave_out_columns);
  }

  [[nodiscard]] std::size_t count() const {
    return choice_.shown.size() + (choice_.left_out == 0 ? 0 : 1);
  }
  // Makes one of the rows in row_.
  void make(std::size_t number) {
    row_.clear();
    if (number == choice_.shown.size()) return make_rest();
    for (const Column column : options_.columns) add_cells(column, *choice_.shown[number]);
  }

  void make_rest() {
    const bool are_functions =
        options_.overhead.keys == std::vector<views::SortKey>{views::SortKey::kSymbol};
    for (const Column column : options_.columns) {
      const bool matters = column == Column::kOverhead || column == Column::kSamples ||
                           (column == Column::kVcpu && are_functions);
      if (matters)
        add_cells(column, choice_.rest);
      else
        row_.pad(row_.size() + layouts_of(column).size());
    }
    // Nothing stands in the last column where it is one of text.
    Cell& cell = layouts_.back().right ? row_.add() : row_[row_.size() - 1];
    cell.text = fmt::format("({} more {})", choice_.left_out, are_functions ? "functions" : "rows");
  }

  void add_cells(Column column, const OverheadRow& row) {
    switch (column) {
      case Column::kOverhead:
        add_share(row.self);
        break;
      case Column::kChildren:
        add_share(row.total);
        break;
      case Column::kSamples:
        row_.add().text = std::to_string(row.self_samples);
        break;
      case Column::kComm:
        add_name_or_nobody(row.comm);
        break;
      case Column::kCgroup:
        add_name_or_nobody(row.cgroup);
        break;
      case Column::kPid:
        row_.add().text = number(row.pid);
        break;
      case Column::kTid:
        row_.add().text = number(row.tid);
        break;
      case Column::kVcpu:
        row_.add().text = vcpu_of(row);
        break;
      case Column::kDso:
        add_name_or_nobody(row.image);
        break;
      case Column::kSymbol:
        row_.add().text = profile::name_of(row.kind);
        add_symbol(row);
        break;
      case Column::kParent:
        row_.add().text = row.parent ? name_of(*row.parent) : "[other]";  // perf's word
        break;
    }
  }

  void add_share(profile::Weight weight) {
    Cell& cell = row_.add();
    cell.text = percent_of(weight);
    cell.colour = colour_of_share(profile::extent_of(weight), section_.extent);
  }

  // Most rows weigh as much as others do.
  const std::string& percent_of(profile::Weight weight) {
    constexpr std::size_t kMostKept = 4096;
    if (percents_.size() == kMostKept) percents_.clear();
    const auto [percent, added] = percents_.try_emplace(weight);
    if (added) percent->second = format_share(weight, section_.extent) + "%";
    return percent->second;
  }

  void add_name_or_nobody(profile::StringId name) {
    row_.add().text = name == 0 ? profile::kNobodyName : profile_.strings[name];
  }

  [[nodiscard]] std::string vcpu_of(const OverheadRow& row) const {
    const std::optional<VcpuId> vcpu = row.vcpu ? row.vcpu : section_.vcpu;
    if (vcpu == recording::kNoVcpu) return "-";
    return vcpu ? std::to_string(vcpu->value) : "all";
  }

  [[nodiscard]] std::string_view name_of(profile::FunctionId function) const {
    return profile_.strings[profile_.functions[function].name];
  }

  void add_symbol(const OverheadRow& row) {
    Cell& cell = row_.add();
    if (row.function) cell.text = name_of(*row.function);
    if (row.inlined) cell.tail += kInlined;
    if (!shows_image_ || row.image == 0) return;
    cell.tail += "  [";
    cell.tail += profile_.strings[row.image];
    cell.tail += ']';
  }

  const Profile& profile_;
  const OverheadSection& section_;
  const ReportOptions& options_;
  bool shows_image_ = false;  // behind the symbol, where it has no column
  std::vector<Layout> layouts_;
  RowChoice choice_;
  std::unordered_map<profile::Weight, std::string> percents_;
  Row row_;  // the one at hand
};

}  // namespace

Result<void> write_table(const Profile& profile, const OverheadSection& section,
                         const ReportOptions& options, Sink& sink) {
  return Table(profile, section, options).write(sink);
}

}  // namespace ringside::exporters
