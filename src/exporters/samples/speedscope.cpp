#include "exporters/samples/speedscope.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "exporters/parts/json_text.h"
#include "exporters/parts/stack_functions.h"
#include "exporters/parts/thread_table.h"
#include "exporters/parts/value_columns.h"
#include "profile/sanitize.h"
#include "views/owner.h"

namespace ringside::exporters {
namespace {

using profile::DetailedProfile;

// A file with more samples than that is none that a browser opens: its threads are summed up, too.
constexpr std::size_t kMostInOrder = 1'000'000;

const char* unit_of(recording::WeightUnit unit) {
  switch (unit) {
    case recording::WeightUnit::kNanoseconds:
      return "nanoseconds";
    case recording::WeightUnit::kBytes:
      return "bytes";
    default:
      return "none";
  }
}

// The samples of the first column, as long as they are few enough.
class OrderedSamples final : public profile::SampleReceiver {
 public:
  explicit OrderedSamples(const ValueColumn& column) : column_(column) {}

  struct Row {
    std::uint32_t group = 0;
    std::uint64_t time = 0;
    std::int64_t value = 0;
  };
  void sample(const profile::TimedSample& sample) override {
    if (sample.source != column_.source || is_full_) return;
    is_full_ = rows_.size() == kMostInOrder;
    if (is_full_)
      rows_ = {};
    else
      rows_.push_back({sample.group, sample.time, scaled(sample.values[column_.value], column_)});
  }
  [[nodiscard]] bool is_full() const { return is_full_; }
  // In order of time.
  [[nodiscard]] std::vector<Row> take() {
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.time < b.time; });
    return std::move(rows_);
  }

 private:
  const ValueColumn& column_;
  bool is_full_ = false;
  std::vector<Row> rows_;
};

// Hands the samples on to both.
class Both final : public profile::SampleReceiver {
 public:
  Both(profile::SampleReceiver& first, profile::SampleReceiver& second)
      : first_(first), second_(second) {}
  void sample(const profile::TimedSample& sample) override {
    first_.sample(sample);
    second_.sample(sample);
  }

 private:
  profile::SampleReceiver& first_;
  profile::SampleReceiver& second_;
};

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(DetailedProfile& profile, const ExportOptions& options, Sink& sink)
      : profile_(profile), options_(options), sink_(sink), columns_(shown_columns(profile)) {}

  Result<void> write() {
    RINGSIDE_TRY(sink_.write(
        R"({"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[)"));
    if (!columns_.empty()) RINGSIDE_TRY(write_profiles());
    return write_end();
  }

 private:
  struct Row {
    std::uint32_t group = 0;
    std::int64_t weight = 0;
  };

  // Ticks that have a time are shown by that alone.
  static std::vector<ValueColumn> shown_columns(const DetailedProfile& profile) {
    std::vector<ValueColumn> columns;
    for (ValueColumn& column : value_columns(profile)) {
      if (!columns.empty() && columns.back().source == column.source &&
          columns.back().value == column.value)
        columns.pop_back();
      columns.push_back(std::move(column));
    }
    return columns;
  }

  Result<void> write_profiles() {
    GroupSums sums(profile_, columns_);
    OrderedSamples in_order(columns_.front());
    Both both(sums, in_order);
    RINGSIDE_TRY(profile_.for_each(both));
    for (std::size_t i = 0; i < columns_.size(); ++i)
      RINGSIDE_TRY(write_profile("all, " + columns_[i].name, columns_[i].unit, summed(sums, i)));
    const ThreadTable table(profile_);
    std::vector<std::vector<Row>> threads(table.threads().size());
    if (in_order.is_full()) {
      for (const Row& row : summed(sums, 0)) threads[table.of(profile_, row.group)].push_back(row);
    } else {
      for (const OrderedSamples::Row& row : in_order.take())
        if (views::is_shown(profile_.owner_of(row.group), options_.show_idle))
          threads[table.of(profile_, row.group)].push_back({row.group, row.value});
    }
    for (std::size_t i = 0; i < threads.size(); ++i)
      if (!threads[i].empty())
        RINGSIDE_TRY(write_profile(table.threads()[i].name, columns_.front().unit, threads[i]));
    return {};
  }

  [[nodiscard]] std::vector<Row> summed(const GroupSums& sums, std::size_t column) const {
    std::vector<Row> rows;
    for (std::uint32_t group = 0; group < profile_.group_count(); ++group)
      if (sums.has(group) && views::is_shown(profile_.owner_of(group), options_.show_idle) &&
          sums.sum(group, column) != 0)
        rows.push_back({group, sums.sum(group, column)});
    return rows;
  }

  // A sum below 0 has no place: the profile is left out.
  Result<void> write_profile(const std::string& name, recording::WeightUnit unit,
                             const std::vector<Row>& rows) {
    const auto is_negative = [](const Row& row) { return row.weight < 0; };
    if (rows.empty() || std::any_of(rows.begin(), rows.end(), is_negative)) return {};
    std::uint64_t total = 0;
    for (const Row& row : rows) total += static_cast<std::uint64_t>(row.weight);
    RINGSIDE_TRY(sink_.write(fmt::format(
        R"({}{{"type":"sampled","name":{},"unit":"{}","startValue":0,"endValue":{},"samples":[)",
        is_first_ ? "\n" : ",\n", json_quoted(name), unit_of(unit), total)));
    is_first_ = false;
    for (std::size_t i = 0; i < rows.size(); ++i)
      RINGSIDE_TRY(sink_.write((i == 0 ? "" : ",") + stack_text(rows[i].group)));
    RINGSIDE_TRY(sink_.write(R"(],"weights":[)"));
    for (std::size_t i = 0; i < rows.size(); ++i)
      RINGSIDE_TRY(sink_.write(fmt::format("{}{}", i == 0 ? "" : ",", rows[i].weight)));
    return sink_.write("]}");
  }

  // "[0,3,7]": outermost first, by place in shared.frames.
  std::string stack_text(std::uint32_t group) {
    frames_.clear();
    for_each_function(profile_, group, [&](const profile::DetailedFrame& frame, std::size_t i) {
      frames_.push_back(frame_of(profile_.profile().frames[frame.functions[i]].function));
    });
    if (frames_.empty()) frames_.push_back(frame_of(kIdle));
    std::string text = "[";
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
      text += fmt::format("{}{}", text.size() == 1 ? "" : ",", *frame);
    return text + "]";
  }

  // Functions are numbered when they are first seen.
  std::uint32_t frame_of(profile::FunctionId function) {
    const std::size_t place = function == kIdle ? 0 : function + 1;
    if (place >= numbers_.size()) numbers_.resize(place + 1);
    if (numbers_[place] == 0) {
      functions_.push_back(function);
      numbers_[place] = static_cast<std::uint32_t>(functions_.size());
    }
    return numbers_[place] - 1;
  }

  Result<void> write_end() {
    const profile::Profile& all = profile_.profile();
    RINGSIDE_TRY(sink_.write("\n],\"shared\":{\"frames\":["));
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const char* const separator = i == 0 ? "\n" : ",\n";
      if (functions_[i] == kIdle) {
        RINGSIDE_TRY(sink_.write(
            fmt::format(R"({}{{"name":{}}})", separator, json_quoted(profile::kIdleName))));
        continue;
      }
      const profile::Function& function = all.functions[functions_[i]];
      const profile::StringId file = function.file != 0 ? function.file : function.image;
      RINGSIDE_TRY(sink_.write(fmt::format(
          R"({}{{"name":{}{}}})", separator, json_quoted(all.strings[function.name]),
          file == 0 ? "" : fmt::format(R"(,"file":{})", json_quoted(all.strings[file])))));
    }
    return sink_.write(fmt::format("\n]}},\"name\":{},\"activeProfileIndex\":0,\"exporter\":{}}}\n",
                                   json_string(all.header.kernel),
                                   json_string("ringside " + all.header.ringside_version)));
  }

  static constexpr profile::FunctionId kIdle = ~profile::FunctionId{0};

  DetailedProfile& profile_;
  const ExportOptions& options_;
  Sink& sink_;
  std::vector<ValueColumn> columns_;
  bool is_first_ = true;
  std::vector<profile::FunctionId> functions_;  // of shared.frames
  std::vector<std::uint32_t> numbers_;          // by function, plus 1: its place there, plus 1
  std::vector<std::uint32_t> frames_;           // reused
};

}  // namespace

Result<void> write_speedscope(DetailedProfile& profile, const ExportOptions& options, Sink& sink) {
  return SpeedscopeWriter(profile, options, sink).write();
}

}  // namespace ringside::exporters
