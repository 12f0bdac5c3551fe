#include "exporters/firefox/firefox.h"

#include <algorithm>
#include <numeric>

#include "exporters/firefox/markers.h"
#include "exporters/firefox/profile_info.h"
#include "exporters/firefox/thread_plan.h"
#include "exporters/parts/gzip_sink.h"
#include "profile/sanitize.h"

namespace ringside::exporters {
namespace firefox {
namespace {

using profile::DetailedProfile;
using Rows = std::span<const std::uint32_t>;

constexpr std::size_t kNoSource = ~std::size_t{0};
constexpr std::size_t kVisibleGuestThreads = 10;  // at first; the viewer shows the others on demand

// The first source of ticks: its samples are what vCPUs and threads ran.
std::size_t cpu_source(const DetailedProfile& profile) {
  for (std::size_t i = 0; i < profile.sources().size(); ++i)
    if (profile.sources()[i].source.kind == recording::SourceKind::kCpu) return i;
  return kNoSource;
}

// A value of a source that has a thread for itself.
struct ValueThread {
  std::size_t source = 0;
  std::size_t value = 0;
  ThreadHead head;
};

class FirefoxWriter {
 public:
  FirefoxWriter(DetailedProfile& profile, Sink& sink)
      : profile_(profile),
        json_(sink),
        tables_(profile),
        columns_(profile, profile.profile().header.interval_ns) {}

  Result<void> write() {
    RINGSIDE_TRY(profile_.for_each(columns_));
    notes_ = notes(profile_.profile(), columns_.pauses());
    plan();
    json_.add_text("{");
    write_profile_info(json_, profile_.profile(), columns_.event_types(), end_ns(), visible());
    json_.add_text("\"threads\":[");
    write_plan(vcpus_, true);
    write_plan(guest_, false);
    for (const ValueThread& thread : values_) write_value(thread);
    RINGSIDE_TRY(write_notes());
    json_.add_text("],");
    tables_.write(json_);
    json_.add_text("}");
    return json_.finish();
  }

 private:
  void plan() {
    cpu_ = cpu_source(profile_);
    if (cpu_ != kNoSource) {
      vcpus_ = plan_vcpus(profile_, columns_.of_source(cpu_));
      guest_ = plan_guest(profile_, columns_.of_source(cpu_));
    }
    for (std::size_t source = 0; source < profile_.sources().size(); ++source)
      for (std::size_t value = 0; value < profile_.sources()[source].values.size(); ++value)
        if ((source != cpu_ || value != 0) && columns_.of_source(source).size() != 0)
          values_.push_back({source, value, value_head(source, value)});
  }

  [[nodiscard]] ThreadHead value_head(std::size_t source, std::size_t value) const {
    const recording::Source& from = profile_.sources()[source].source;
    const std::string name = fmt::format("{} {}", profile::sanitize(from.name),
                                         profile::sanitize(type_of(source, value).name));
    return {is_of_host_time(source) ? name : name + " (not by the host's clock)",
            "Other sources",
            "other sources",
            json_string(name),
            false,
            columns_.of_source(source).size()};
  }

  [[nodiscard]] const recording::ValueType& type_of(std::size_t source, std::size_t value) const {
    const profile::ChosenSource& chosen = profile_.sources()[source];
    return chosen.source.values[chosen.values[value]];
  }

  // Ticks may begin long after the recording's time 0, and its duration counts from the first.
  [[nodiscard]] std::uint64_t end_ns() const {
    const profile::Profile& all = profile_.profile();
    std::uint64_t end = all.recorded ? all.recorded->duration_ns : 0;
    for (std::size_t source = 0; source < profile_.sources().size(); ++source)
      end = std::max(end, columns_.time_ns(source, columns_.of_source(source).last_time));
    return end + all.header.interval_ns;
  }

  // vCPUs, the guest's busiest threads, and all of the rest.
  [[nodiscard]] std::vector<std::uint32_t> visible() const {
    const auto first_guest = static_cast<std::uint32_t>(vcpus_.threads.size());
    const auto behind_guest = first_guest + static_cast<std::uint32_t>(guest_.threads.size());
    std::vector<std::uint32_t> shown(first_guest);
    std::iota(shown.begin(), shown.end(), 0u);
    std::vector<std::uint32_t> busiest(guest_.threads.size());
    std::iota(busiest.begin(), busiest.end(), 0u);
    std::stable_sort(busiest.begin(), busiest.end(), [&](std::uint32_t a, std::uint32_t b) {
      return guest_.threads[a].samples > guest_.threads[b].samples;
    });
    busiest.resize(std::min(busiest.size(), kVisibleGuestThreads));
    for (const std::uint32_t thread : busiest) shown.push_back(first_guest + thread);
    const std::size_t rest = values_.size() + (has_notes() ? 1 : 0);
    for (std::uint32_t i = 0; i < rest; ++i) shown.push_back(behind_guest + i);
    return shown;
  }

  void write_plan(const ThreadPlan& plan, bool is_of_vcpus) {
    if (plan.threads.empty()) return;
    const RowsByThread rows = rows_by_thread(plan, columns_.of_source(cpu_));
    std::vector<std::vector<Marker>> markers(plan.threads.size());
    if (is_of_vcpus) add_missing_ticks(rows, markers);
    for (std::size_t i = 0; i < plan.threads.size(); ++i) {
      write_samples(plan.threads[i], cpu_, 0, is_of_vcpus ? samples_of(rows.of(i)) : rows.of(i));
      write_markers(json_, tables_, markers[i]);
      json_.add_text("}");
    }
  }

  // Where lost ticks are seems to be known, it is shown, unless these would be more than there are:
  // then the period is not that of each vCPU.
  void add_missing_ticks(const RowsByThread& rows, std::vector<std::vector<Marker>>& markers) {
    const profile::Profile& all = profile_.profile();
    bool finds_lost = all.filtered_samples == 0 && all.recorded && all.recorded->lost != 0 &&
                      is_of_host_time(cpu_);
    for (;;) {
      std::uint64_t found = 0;
      for (std::size_t i = 0; i < markers.size(); ++i)
        markers[i] = missing_ticks(profile_, columns_, cpu_, rows.of(i), finds_lost, found);
      if (!finds_lost || found <= all.recorded->lost) return;
      finds_lost = false;
    }
  }

  [[nodiscard]] bool is_of_host_time(std::size_t source) const {
    return profile_.sources()[source].source.clock == recording::kHostClock;
  }

  // Without the ticks that gave no sample.
  Rows samples_of(Rows rows) {
    const SampleRows& all = columns_.of_source(cpu_);
    chosen_rows_.clear();
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(chosen_rows_),
                 [&](std::uint32_t row) { return is_sample(profile_, all.groups[row]); });
    return chosen_rows_;
  }

  void write_value(const ValueThread& thread) {
    if (thread.source != rows_source_) {  // those of one source stand beside each other
      const SampleRows& all = columns_.of_source(thread.source);
      rows_ = RowsByThread(1, all.times, [&](std::uint32_t row) {
        return is_sample(profile_, all.groups[row]) ? 0 : RowsByThread::kNoThread;
      });
      rows_source_ = thread.source;
    }
    write_samples(thread.head, thread.source, thread.value, rows_.of(0));
    write_markers(json_, tables_, {});
    json_.add_text("}");
  }

  [[nodiscard]] bool has_notes() const { return !notes_.empty() || columns_.events().size() != 0; }

  Result<void> write_notes() {
    if (!has_notes()) return {};
    write_samples({"Events", "ringside", "ringside", "\"events\"", true, 0}, 0, 0, {});
    RINGSIDE_TRY(write_event_markers(json_, tables_, notes_, columns_, profile_));
    json_.add_text("}");
    return {};
  }

  // A thread without its markers and its end.
  void write_samples(const ThreadHead& head, std::size_t source, std::size_t value, Rows rows) {
    json_.add(R"({}{{"name":{},"processName":{},"pid":{},"tid":{},"isMainThread":{},)",
              is_first_thread_ ? "" : ",", json_string(head.name), json_string(head.process),
              json_string(head.pid), head.tid, head.is_main);
    is_first_thread_ = false;
    json_.add(R"("processType":"default","processStartupTime":0,"processShutdownTime":null,)"
              R"("registerTime":{},"unregisterTime":null,"pausedRanges":[],)"
              R"("showMarkersInTimeline":true,"samples":{{)",
              rows.empty() ? "0" : milliseconds(time_ns(source, rows.front())));
    write_columns(source, value, rows);
    json_.add("\"length\":{}}},", rows.size());
  }

  void write_columns(std::size_t source, std::size_t value, Rows rows) {
    json_.column("stack", rows.size(), [&](std::size_t i) {
      json_.add("{}", tables_.stack_of(columns_.of_source(source).groups[rows[i]]));
    });
    std::uint64_t before = 0;
    json_.column("timeDeltas", rows.size(), [&](std::size_t i) {
      const std::uint64_t now = time_ns(source, rows[i]);
      json_.add_text(milliseconds(now - before));
      before = now;
    });
    if (rows.empty()) {
      json_.add_text(R"("weight":null,"weightType":"samples",)");
      return;
    }
    if (source == cpu_ && value == 0) write_cpu_time(rows);
    write_weights(columns_.of_source(source).values[value], type_of(source, value).unit, rows);
  }

  // The processor time since the sample before: each tick stands for a period. Without it the
  // viewer takes a thread for busy between any two samples.
  void write_cpu_time(Rows rows) {
    const recording::Source& from = profile_.sources()[cpu_].source;
    if (!is_of_host_time(cpu_) || from.period == 0) return;
    const SampleRows& all = columns_.of_source(cpu_);
    json_.column("threadCPUDelta", rows.size(), [&](std::size_t i) {
      const bool is_idle =
          profile_.owner_of(all.groups[rows[i]]).disposition == wire::Disposition::kIdle;
      const std::int64_t ticks = is_idle ? 0 : std::max<std::int64_t>(all.values[0][rows[i]], 0);
      json_.add("{}", static_cast<double>(ticks) * static_cast<double>(from.period));
    });
  }

  void write_weights(const MostlyOnes& weights, recording::WeightUnit unit, Rows rows) {
    const bool is_time = unit == recording::WeightUnit::kNanoseconds;
    const bool is_bytes = unit == recording::WeightUnit::kBytes;
    if (weights.are_ones() && !is_time)
      json_.add_text("\"weight\":null,");
    else
      json_.column("weight", rows.size(), [&](std::size_t i) {
        if (is_time)
          json_.add("{}", static_cast<double>(weights[rows[i]]) / 1e6);
        else
          json_.add("{}", weights[rows[i]]);
      });
    json_.add(R"("weightType":"{}",)", is_time ? "tracing-ms" : is_bytes ? "bytes" : "samples");
  }

  [[nodiscard]] std::uint64_t time_ns(std::size_t source, std::uint32_t row) const {
    return columns_.time_ns(source, columns_.of_source(source).times[row]);
  }

  DetailedProfile& profile_;
  JsonText json_;
  StackTables tables_;
  SampleColumns columns_;
  std::size_t cpu_ = kNoSource;
  ThreadPlan vcpus_;
  ThreadPlan guest_;
  std::vector<ValueThread> values_;
  std::vector<Marker> notes_;
  std::vector<std::uint32_t> chosen_rows_;  // reused
  RowsByThread rows_;                       // the samples of a source in order of time
  std::size_t rows_source_ = kNoSource;
  bool is_first_thread_ = true;
};

}  // namespace
}  // namespace firefox

Result<void> write_firefox(profile::DetailedProfile& profile, const ExportOptions&, Sink& sink) {
  GzipSink compressed(sink);
  RINGSIDE_TRY(firefox::FirefoxWriter(profile, compressed).write());
  return compressed.finish();
}

}  // namespace ringside::exporters
