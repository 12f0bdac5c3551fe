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
#include "exporters/report/row_tree_text.h"
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

// perf's mark of a function's kind, and marks for kinds that perf has none of.
std::string_view letter_of(profile::Kind kind) {
  switch (kind) {
    case profile::Kind::kKernel:
    case profile::Kind::kInterrupt:
      return "[k] ";
    case profile::Kind::kUser:
      return "[.] ";
    case profile::Kind::kFirmware:
      return "[f] ";
    case profile::Kind::kGuest:
      return "[g] ";
    case profile::Kind::kCode:
      return "[c] ";
    case profile::Kind::kUnknown:
      return "[?] ";
  }
  return "[?] ";
}

// Seconds as perf has them, cut to microseconds.
std::string seconds_of(std::uint64_t ns) {
  return fmt::format("{}.{:06}", ns / 1'000'000'000, ns % 1'000'000'000 / 1000);
}

class Table {
 public:
  Table(const Profile& profile, const OverheadSection& section, const ReportOptions& options)
      : profile_(profile),
        section_(section),
        options_(options),
        choice_(profile, section, options) {
    for (const Column column : options.columns) layouts_.push_back(layout_of(column));
  }

  // With `trees`, each row's under it.
  Result<void> write(const views::RowTrees* trees, Sink& sink) {
    lay_out();
    RINGSIDE_TRY(write_heading(layouts_, sink));
    for (std::size_t number = 0; number < count(); ++number) {
      make(number);
      if (options_.width != 0) cut(row_, layouts_, options_.width - kMark.size());
      RINGSIDE_TRY(write_row(row_, layouts_, sink));
      if (trees != nullptr && number != choice_.shown.size())
        RINGSIDE_TRY(write_tree(*trees, *choice_.shown[number], sink));
    }
    if (cut_ != 0)
      RINGSIDE_TRY(sink.write(fmt::format(
          "#\n# The trees of {} rows are not whole: a report has {} calls at most, and a tree {}. "
          "Give --max-stack, or --percent-limit\n",
          cut_, format_count(kMostCalls), format_count(options_.trees.most_nodes))));
    return sink.write("\n");
  }

  // Cells with the separator between them.
  Result<void> write_separated(Sink& sink) {
    Row names;
    for (const Layout& layout : layouts_) names.add().text = layout.name;
    RINGSIDE_TRY(sink.write("# " + joined(names)));
    for (std::size_t number = 0; number < count(); ++number) {
      make(number);
      RINGSIDE_TRY(sink.write(joined(row_)));
    }
    return sink.write("\n");
  }

 private:
  static constexpr std::size_t kMostCalls = 1'000'000;

  Result<void> write_tree(const views::RowTrees& trees, const OverheadRow& row, Sink& sink) {
    if (calls_ >= kMostCalls) {
      ++cut_;
      return {};
    }
    const views::RowTree tree = trees.of(static_cast<std::size_t>(&row - section_.rows.data()));
    calls_ += tree.nodes.size();
    if (tree.is_cut) ++cut_;
    return write_row_tree(profile_, section_, row, tree, options_, sink);
  }

  void lay_out() {
    if (options_.width != 0)
      for (Layout& layout : layouts_) layout.width = layout.name.size();
    for (std::size_t number = 0; number < count(); ++number) {
      make(number);
      measure(row_, layouts_);
    }
    widen(layouts_);
    if (options_.width != 0)
      fit(layouts_, options_.width - kMark.size(), options_.may_leave_out_columns);
  }

  // A line. A separator within a cell is a dot, as in perf.
  [[nodiscard]] std::string joined(const Row& row) const {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += options_.separator;
      std::string text = row[i].text + row[i].tail;
      for (std::size_t at = text.find(options_.separator); at != std::string::npos;
           at = text.find(options_.separator, at + 1))
        text.replace(at, options_.separator.size(), ".");
      line += text;
    }
    return line + '\n';
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
      const bool matters = column == Column::kOverhead || column == Column::kSelf ||
                           column == Column::kSamples || (column == Column::kVcpu && are_functions);
      if (matters)
        add_cells(column, choice_.rest);
      else
        row_.add();
    }
    // Nothing stands in the last column where it is one of text.
    Cell& cell = layouts_.back().right ? row_.add() : row_[row_.size() - 1];
    cell.text = fmt::format("({} more {})", choice_.left_out, are_functions ? "functions" : "rows");
  }

  void add_cells(Column column, const OverheadRow& row) {
    switch (column) {
      case Column::kOverhead:
      case Column::kSelf:
        add_share(row.self);
        break;
      case Column::kChildren:
        add_share(row.total);
        break;
      case Column::kSys:
        add_share(row.self_in_kernel);
        break;
      case Column::kUser:
        add_share(row.self_in_user);
        break;
      case Column::kGuestSys:
      case Column::kGuestUser:
        add_share(0);
        break;
      case Column::kPeriod:
        row_.add().text = std::to_string(row.self);
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
      case Column::kTask:
      case Column::kTid:
        add_task(row);
        break;
      case Column::kPid:
        add_process(row.pid);
        break;
      case Column::kVcpu:
        row_.add().text = vcpu_of(row);
        break;
      case Column::kTime:
        row_.add().text = row.span_ns ? seconds_of(*row.span_ns) : std::string("-");
        break;
      case Column::kDso:
        row_.add().text = dso_of(row);
        break;
      case Column::kSourceLine:
        row_.add().text = row.line == 0 ? profile::kUnknownPlace : profile_.strings[row.line];
        break;
      case Column::kSymbol:
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

  // As in perf: the thread has the last of its names, and -1 is nobody.
  void add_task(const OverheadRow& row) {
    const auto name = profile_.last_names.find({row.pid.value_or(0), row.tid.value_or(0)});
    const bool has_name = row.pid && row.tid && name != profile_.last_names.end();
    add_number(row.tid, has_name ? std::optional(name->second) : std::nullopt);
  }
  void add_process(const std::optional<std::uint32_t>& pid) {
    add_number(pid, pid ? profile_.last_name_of_process(*pid) : std::nullopt);
  }
  void add_number(const std::optional<std::uint32_t>& id,
                  const std::optional<profile::StringId>& name) {
    row_.add().text = fmt::format("{:>7}:{}", id ? number(id) : "-1",
                                  name ? profile_.strings[*name] : profile::kNobodyName);
  }

  [[nodiscard]] std::string vcpu_of(const OverheadRow& row) const {
    const std::optional<VcpuId> vcpu = row.vcpu ? row.vcpu : section_.vcpu;
    if (vcpu == recording::kNoVcpu) return "-";
    return vcpu ? std::to_string(vcpu->value) : "all";
  }

  [[nodiscard]] std::string_view name_of(profile::FunctionId function) const {
    return profile_.strings[profile_.functions[function].name];
  }

  // An image as perf names it: a kernel of Linux, and its modules, in brackets.
  [[nodiscard]] std::string dso_of(const OverheadRow& row) const {
    const std::string_view name = profile_.strings[row.image];
    if (name.empty()) return std::string(profile::kNobodyName);
    const bool is_linux = profile_.header.guest_os == "linux";
    if (!is_linux || !profile::is_kernel(row.kind) || name.front() == '[') return std::string(name);
    return name == "kernel" ? "[kernel.kallsyms]" : fmt::format("[{}]", name);
  }

  void add_symbol(const OverheadRow& row) {
    Cell& cell = row_.add();
    cell.text = letter_of(row.kind);
    if (row.function) cell.text += name_of(*row.function);
    if (row.inlined) cell.tail += kInlined;
  }

  const Profile& profile_;
  const OverheadSection& section_;
  const ReportOptions& options_;
  std::vector<Layout> layouts_;
  RowChoice choice_;
  std::unordered_map<profile::Weight, std::string> percents_;
  Row row_;  // the one at hand
  std::size_t calls_ = 0;
  std::size_t cut_ = 0;  // rows whose tree is cut, or not there
};

}  // namespace

Result<void> write_table(const Profile& profile, const OverheadSection& section,
                         const ReportOptions& options, const views::RowTrees* trees, Sink& sink) {
  Table table(profile, section, options);
  return options.separator.empty() ? table.write(trees, sink) : table.write_separated(sink);
}

}  // namespace ringside::exporters
