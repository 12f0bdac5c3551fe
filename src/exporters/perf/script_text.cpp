#include "exporters/perf/script_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "exporters/parts/frame_texts.h"
#include "exporters/parts/time_window.h"
#include "exporters/perf/perf_names.h"
#include "exporters/perf/script_frames.h"
#include "profile/sanitize.h"
#include "recording/of_perf.h"
#include "views/owner.h"

namespace ringside::exporters {
namespace {

using profile::DetailedProfile;

// A block of a recording holds fewer samples, and only within one are they out of order.
constexpr std::size_t kWindow = 1 << 18;

class ScriptTextWriter final : public profile::SampleReceiver {
 public:
  ScriptTextWriter(DetailedProfile& profile, const ScriptOptions& options, Sink& sink)
      : profile_(profile),
        options_(options),
        sink_(sink),
        frames_(profile.profile(), options),
        events_(event_names()),
        is_one_line_(options.hide_call_graph || (options.may_be_one_line && !has_callers())) {
    for (const std::string& event : events_) event_width_ = std::max(event_width_, event.size());
  }

  Result<std::uint64_t> write() {
    RINGSIDE_TRY(profile_.for_each(*this));
    window_.finish([this](const Row& row) { write(row); });
    RINGSIDE_TRY(result_);
    return written_;
  }

  void sample(const profile::TimedSample& sample) override {
    if (!result_) return;
    const Row row{sample.time, sample.values.empty() ? 0 : sample.values.front(), sample.source,
                  sample.group};
    window_.add(row, [this](const Row& first) { write(first); });
  }

 private:
  struct Row {
    std::uint64_t time = 0;
    std::int64_t value = 0;
    std::uint32_t source = 0;
    std::uint32_t group = 0;
  };

  [[nodiscard]] bool has(ScriptField field) const { return options_.fields.has(field); }

  [[nodiscard]] std::vector<std::string> event_names() const {
    std::vector<std::string> names;
    for (const profile::ChosenSource& chosen : profile_.sources())
      names.push_back(event_of(profile_.profile().header, chosen.source));
    return names;
  }

  // Whether any sample that is left has some.
  [[nodiscard]] bool has_callers() {
    for (std::uint32_t group = 0; group < profile_.group_count(); ++group)
      if (profile_.has_group(group) && profile_.stack_of(group).size() > 1) return true;
    return false;
  }

  void write(const Row& row) {
    const profile::Owner& owner = profile_.owner_of(row.group);
    if (!result_ || !views::is_shown(owner, options_.show_idle) || !is_chosen(row.group)) return;
    text_.clear();
    append_head(row, owner);
    if (has(ScriptField::kIp)) append_stack(row.group, owner);
    text_ += '\n';
    result_ = sink_.write(text_);
    ++written_;
  }

  [[nodiscard]] bool is_chosen(std::uint32_t group) {
    if (options_.symbols.empty()) return true;
    const auto stack = profile_.stack_of(group);
    return !stack.empty() && frames_.is_chosen(profile_.frame(stack.front()));
  }

  // perf pads no command where call chains follow: readers take a blank for a frame's line.
  void append_head(const Row& row, const profile::Owner& owner) {
    const auto out = std::back_inserter(text_);
    if (has(ScriptField::kComm)) append_comm(owner);
    const std::uint32_t pid = owner.pid.value_or(0);  // readers take no other number for "none"
    const std::uint32_t tid = owner.tid.value_or(pid);
    if (has(ScriptField::kPid) && has(ScriptField::kTid))
      fmt::format_to(out, "{:>5}/{:<5} ", pid, tid);
    else if (has(ScriptField::kPid) || has(ScriptField::kTid))
      fmt::format_to(out, "{:>5} ", has(ScriptField::kPid) ? pid : tid);
    if (has(ScriptField::kCpu) && owner.vcpu != recording::kNoVcpu)
      fmt::format_to(out, "[{:03}] ", owner.vcpu.value);
    if (has(ScriptField::kTime)) append_time(row);
    if (has(ScriptField::kPeriod)) fmt::format_to(out, "{:>10} ", row.value);
    if (has(ScriptField::kEvent))
      fmt::format_to(out, "{:>{}}: ", events_[row.source], event_width_);
  }

  void append_comm(const profile::Owner& owner) {
    constexpr std::size_t kWidth = 16;
    std::string_view comm = options_.comm;
    if (comm.empty()) comm = profile_.profile().strings[owner.comm];
    if (comm.empty()) comm = profile::kNobodyName;
    if ((is_one_line_ || !has(ScriptField::kIp)) && comm.size() < kWidth)
      text_.append(kWidth - comm.size(), ' ');
    text_ += comm;
    text_ += ' ';
  }

  void append_time(const Row& row) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const profile::ChosenSource& chosen = profile_.sources()[row.source];
    const bool is_of_file =
        is_of_perf(profile_.profile().header) && chosen.source.clock == recording::kHostClock;
    std::uint64_t time = row.time;
    if (is_of_file) time += profile_.profile().header.start_monotonic_ns;
    const std::uint64_t now = time;
    if (!origin_) origin_ = now;
    if (options_.origin != ScriptOptions::TimeOrigin::kClock) time = now - std::min(now, *origin_);
    if (options_.origin == ScriptOptions::TimeOrigin::kPrevious) origin_ = now;
    const auto out = std::back_inserter(text_);
    if (options_.nanoseconds)
      fmt::format_to(out, "{:>5}.{:09}: ", time / kSecond, time % kSecond);
    else
      fmt::format_to(out, "{:>5}.{:06}: ", time / kSecond, time % kSecond / 1000);
  }

  void append_stack(std::uint32_t group, const profile::Owner& owner) {
    text_ += is_one_line_ ? ' ' : '\n';
    const bool is_idle = owner.disposition == wire::Disposition::kIdle;
    if (is_idle)
      text_ += fmt::format("{}{:16x} {} ([unknown]){}", is_one_line_ ? "" : "\t", 0,
                           profile::kIdleName, is_one_line_ ? "" : "\n");
    std::size_t count = 0;
    for (const profile::StackEntry& entry : profile_.stack_of(group)) {
      if (is_one_line_) {
        text_ += frames_.in_line(profile_.frame(entry));
        break;
      }
      text_ += lines_.of(entry, [&] { return make_lines(profile_.frame(entry)); });
      if (++count == options_.max_stack) break;
    }
  }

  [[nodiscard]] std::string make_lines(const profile::DetailedFrame& frame) const {
    return options_.lines ? options_.lines(frame) : frames_.lines(frame);
  }

  DetailedProfile& profile_;
  const ScriptOptions& options_;
  Sink& sink_;
  ScriptFrames frames_;
  std::vector<std::string> events_;  // by source
  std::size_t event_width_ = 0;      // bytes
  bool is_one_line_;
  TimeWindow<Row> window_{kWindow};
  std::optional<std::uint64_t> origin_;
  Result<void> result_;
  std::uint64_t written_ = 0;  // samples
  std::string text_;           // reused
  FrameTexts lines_;
};

}  // namespace

Result<std::uint64_t> write_script(DetailedProfile& profile, const ScriptOptions& options,
                                   Sink& sink) {
  return ScriptTextWriter(profile, options, sink).write();
}

}  // namespace ringside::exporters
