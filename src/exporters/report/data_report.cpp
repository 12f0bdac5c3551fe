#include "exporters/report/data_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "exporters/parts/csv_text.h"
#include "exporters/parts/json_text.h"
#include "exporters/parts/json_warnings.h"
#include "exporters/report/row_choice.h"
#include "profile/sanitize.h"
#include "views/summary.h"

namespace ringside::exporters {
namespace {

using profile::Profile;
using views::OverheadRow;
using views::OverheadSection;

// A value of a row: a number as it is, a text to be quoted. Empty: there is none.
struct Field {
  const char* name;
  std::string value;
  bool is_text = false;
};
using Fields = std::vector<Field>;

template <class T>
std::string number(const std::optional<T>& value) {
  return value ? std::to_string(*value) : std::string();
}

class Rows {
 public:
  Rows(const Profile& profile, const OverheadSection& section, const ReportOptions& options)
      : profile_(profile),
        section_(section),
        options_(options),
        choice_(profile, section, options) {}

  [[nodiscard]] std::size_t count() const { return choice_.shown.size(); }
  [[nodiscard]] std::size_t left_out() const { return choice_.left_out; }
  [[nodiscard]] const OverheadRow& rest() const { return choice_.rest; }
  [[nodiscard]] Fields fields(std::size_t index) const { return fields_of(*choice_.shown[index]); }

  // Those of a row, by column.
  [[nodiscard]] Fields fields_of(const OverheadRow& row) const {
    Fields fields;
    for (const ReportColumn column : options_.columns) add(column, row, fields);
    return fields;
  }

 private:
  [[nodiscard]] double percent_of(std::uint64_t weight) const {
    return section_.extent == 0
               ? 0
               : 100 * static_cast<double>(weight) / static_cast<double>(section_.extent);
  }
  [[nodiscard]] std::string share(profile::Weight weight) const {
    return fmt::format("{}{:.4f}", weight < 0 ? "-" : "", percent_of(profile::extent_of(weight)));
  }
  [[nodiscard]] std::string text(profile::StringId id) const {
    return std::string(profile_.strings[id]);
  }
  [[nodiscard]] std::string function(const std::optional<profile::FunctionId>& id) const {
    return id ? text(profile_.functions[*id].name) : std::string();
  }

  // Whether the column is a sum over samples.
  bool add_sum(ReportColumn column, const OverheadRow& row, Fields& fields) const {
    switch (column) {
      case ReportColumn::kOverhead:
      case ReportColumn::kSelf:
        fields.push_back({"overhead_percent", share(row.self)});
        fields.push_back({"self", std::to_string(row.self)});
        break;
      case ReportColumn::kChildren:
        fields.push_back({"children_percent", share(row.total)});
        fields.push_back({"total", std::to_string(row.total)});
        break;
      case ReportColumn::kSys:
        fields.push_back({"sys_percent", share(row.self_in_kernel)});
        break;
      case ReportColumn::kUser:
        fields.push_back({"us_percent", share(row.self_in_user)});
        break;
      case ReportColumn::kGuestSys:
        fields.push_back({"guest_sys_percent", share(0)});
        break;
      case ReportColumn::kGuestUser:
        fields.push_back({"guest_us_percent", share(0)});
        break;
      case ReportColumn::kPeriod:
        fields.push_back({"period", std::to_string(row.self)});
        break;
      case ReportColumn::kSamples:
        fields.push_back({"samples", std::to_string(row.self_samples)});
        break;
      default:
        return false;
    }
    return true;
  }

  void add(ReportColumn column, const OverheadRow& row, Fields& fields) const {
    if (add_sum(column, row, fields)) return;
    switch (column) {
      case ReportColumn::kComm:
        fields.push_back({"comm", text(row.comm), true});
        break;
      case ReportColumn::kCgroup:
        fields.push_back({"cgroup", text(row.cgroup), true});
        break;
      case ReportColumn::kPid:
        fields.push_back({"pid", number(row.pid)});
        break;
      case ReportColumn::kTask:
      case ReportColumn::kTid:
        fields.push_back({"tid", number(row.tid)});
        break;
      case ReportColumn::kVcpu:
        fields.push_back({"vcpu", vcpu_of(row)});
        break;
      case ReportColumn::kTime:
        fields.push_back({"time_ns", number(row.span_ns)});
        break;
      case ReportColumn::kDso:
        fields.push_back({"dso", text(row.image), true});
        break;
      case ReportColumn::kSourceLine:
        fields.push_back({"srcline",
                          row.line == 0 ? std::string(profile::kUnknownPlace) : text(row.line),
                          true});
        break;
      case ReportColumn::kSymbol:
        fields.push_back({"kind", std::string(profile::name_of(row.kind)), true});
        fields.push_back({"symbol", function(row.function), true});
        fields.push_back({"inlined", row.inlined ? "true" : "false"});
        break;
      case ReportColumn::kParent:
        fields.push_back({"parent", function(row.parent), true});
        break;
      default:
        break;
    }
  }

  [[nodiscard]] std::string vcpu_of(const OverheadRow& row) const {
    const std::optional<VcpuId> vcpu = row.vcpu ? row.vcpu : section_.vcpu;
    return vcpu && vcpu != recording::kNoVcpu ? std::to_string(vcpu->value) : std::string();
  }

  const Profile& profile_;
  const OverheadSection& section_;
  const ReportOptions& options_;
  RowChoice choice_;
};

std::string csv_line(const Fields& fields) {
  std::string line;
  for (const Field& field : fields)
    line += (&field == &fields.front() ? "" : ",") +
            (field.is_text ? csv_text(field.value) : field.value);
  return line + "\n";
}

// The rows that are left out as one, with the sums that they have.
std::string csv_rest(const Rows& rows) {
  Fields fields = rows.fields_of(rows.rest());
  for (Field& field : fields) {
    const std::string_view name = field.name;
    const bool is_sum = name == "overhead_percent" || name == "self" || name == "samples";
    if (!is_sum) field.value.clear();
  }
  const auto text = std::find_if(fields.rbegin(), fields.rend(),
                                 [](const Field& field) { return field.is_text; });
  if (text != fields.rend()) text->value = fmt::format("({} more rows)", rows.left_out());
  return csv_line(fields);
}

std::string json_object(const Fields& fields) {
  std::string text;
  for (const Field& field : fields) {
    const std::string value = field.is_text         ? json_quoted(field.value)
                              : field.value.empty() ? std::string("null")
                                                    : field.value;
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", field.name, value);
  }
  return "{" + text + "}";
}

Result<void> write_json_table(const Profile& profile, const OverheadSection& section,
                              const ReportOptions& options, Sink& sink) {
  const Rows rows(profile, section, options);
  RINGSIDE_TRY(sink.write(fmt::format(
      R"({{"vcpu":{},"sampled":{},"samples":{},"idle":{},"skipped":{},"failed":{},"rows":[)",
      section.vcpu && section.vcpu != recording::kNoVcpu ? std::to_string(section.vcpu->value)
                                                         : std::string("null"),
      section.sampled, section.samples, section.idle, section.skipped, section.failed)));
  for (std::size_t i = 0; i < rows.count(); ++i)
    RINGSIDE_TRY(sink.write((i == 0 ? "\n" : ",\n") + json_object(rows.fields(i))));
  return sink.write(fmt::format(R"(],"left_out":{{"rows":{},"self":{},"samples":{}}}}})",
                                rows.left_out(), rows.rest().self, rows.rest().self_samples));
}

// Numbers that are not known are null.
Result<void> write_json_counts(const Profile& profile, Sink& sink) {
  const views::Summary summary = views::make_summary(profile);
  const auto or_null = [](const std::optional<std::uint64_t>& value) {
    return value ? std::to_string(*value) : std::string("null");
  };
  std::string reasons;
  for (const auto& [reason, count] : summary.lost_by_reason)
    reasons += fmt::format("{}{}:{}", reasons.empty() ? "" : ",", json_string(reason), count);
  return sink.write(fmt::format(
      R"("counts":{{"due":{},"sampled":{},"idle":{},"skipped":{},"failed":{},"lost":{},)"
      R"("lost_by_reason":{{{}}},"late":{},"filtered":{},"stacks":{},"complete_stacks":{},)"
      R"("unknown_frames":{},"frames":{},"duration_ns":{},"stopped_ns":{}}})",
      or_null(summary.due), summary.sampled, summary.idle, summary.skipped, summary.failed,
      or_null(summary.lost), reasons, or_null(summary.late),
      static_cast<profile::Weight>(profile.filtered_weight), summary.unwound, summary.complete,
      summary.unknown_frames, summary.all_frames, summary.duration_ns, summary.stood_still_ns));
}

// Whose names kernel code has: an empty file where only the recording has them, none where nothing
// has.
Result<void> write_json_kernel_code(const Profile& profile, Sink& sink) {
  std::string parts;
  const auto add = [&](const std::string& file, std::uint64_t samples) {
    parts +=
        fmt::format(R"({}{{"file":{},"samples":{}}})", parts.empty() ? "" : ",", file, samples);
  };
  for (const profile::NamedBy& named : profile.kernel_files)
    add(json_string(named.file), named.samples);
  if (profile.unnamed_kernel_samples != 0) add("null", profile.unnamed_kernel_samples);
  return sink.write(fmt::format(R"(,"kernel_code":[{}])", parts));
}

Result<void> write_json_head(const Profile& profile, Sink& sink) {
  const recording::Header& header = profile.header;
  return sink.write(fmt::format(
      R"({{"version":1,"kernel":{},"kernel_release":{},"kernel_build_id":"{}","guest_os":{},"engine":{},"vcpus":{},"interval_ns":{},)"
      R"("start_ns":{},"source":{},"value":{},"unit":"{}","warnings":[{}],)",
      json_string(header.kernel), json_string(header.kernel_release),
      hex_text(header.kernel_build_id), json_string(header.guest_os), json_string(header.engine),
      header.vcpu_count, header.interval_ns, header.start_wall_ns, json_quoted(profile.source),
      json_quoted(profile.value), recording::name_of(profile.unit), json_warnings(profile)));
}

}  // namespace

Result<void> write_csv_report(const Profile& profile, const ReportOptions& options, Sink& sink) {
  views::OverheadOptions overhead = options.overhead;
  overhead.per_vcpu = false;
  const views::OverheadTable table = views::make_overhead(profile, overhead);
  const Rows rows(profile, table.all, options);
  Fields names = rows.fields_of({});
  for (Field& field : names) field.value = field.name;
  RINGSIDE_TRY(sink.write(csv_line(names)));
  for (std::size_t i = 0; i < rows.count(); ++i) RINGSIDE_TRY(sink.write(csv_line(rows.fields(i))));
  return rows.left_out() == 0 ? Result<void>() : sink.write(csv_rest(rows));
}

Result<void> write_json_report(const Profile& profile, const ReportOptions& options, Sink& sink) {
  const views::OverheadTable table = views::make_overhead(profile, options.overhead);
  RINGSIDE_TRY(write_json_head(profile, sink));
  RINGSIDE_TRY(write_json_counts(profile, sink));
  RINGSIDE_TRY(write_json_kernel_code(profile, sink));
  RINGSIDE_TRY(sink.write(",\"tables\":[\n"));
  RINGSIDE_TRY(write_json_table(profile, table.all, options, sink));
  for (const OverheadSection& section : table.per_vcpu) {
    RINGSIDE_TRY(sink.write(",\n"));
    RINGSIDE_TRY(write_json_table(profile, section, options, sink));
  }
  return sink.write("\n]}\n");
}

}  // namespace ringside::exporters
