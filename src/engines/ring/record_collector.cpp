#include "engines/ring/record_collector.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "arch/arch_info.h"
#include "wire/guest_capture.h"

namespace ringside::engines::ring {
namespace {

constexpr auto is_earlier = [](const auto& a, const auto& b) { return a.counter < b.counter; };

}  // namespace

void RecordCollector::set_plan(const TickPlan& plan) {
  kernel_ = plan.kernel;
  user_ = plan.user;
  wanted_.clear();
  for (const VcpuPlan& vcpu : plan.vcpus) wanted_.push_back(vcpu.wanted);
}

void RecordCollector::take(const wire::GuestRecord& record, std::span<const std::uint64_t> words) {
  if (record.kind == wire::GuestRecordKind::kInfo) return;
  newest_ = std::max(newest_, record.time);
  if (record.kind == wire::GuestRecordKind::kSample)
    add_capture(record);
  else
    add_event(record, words);
}

void RecordCollector::add_event(const wire::GuestRecord& record,
                                std::span<const std::uint64_t> words) {
  if (record.time < newest_event_ / 2) release(newest_event_);  // a counter that begins anew
  newest_event_ = events_.empty() ? record.time : std::max(newest_event_, record.time);
  events_.push_back({record.time, 0, 0, {words.begin(), words.end()}});
  const wire::GuestFrames& stack = record.kind == wire::GuestRecordKind::kAllocation
                                       ? record.allocation.stack
                                       : record.event.stack;
  if (reporter_ || stack.addresses.empty()) return;
  wire::GuestSample code;
  code.kernel = stack;
  wire::capture_of(code, VcpuId{record.cpu}, arch_, reporter_.emplace());
  set_paging(*reporter_);
}

// Where the guest has not noted them itself.
void RecordCollector::set_paging(wire::Capture& capture) const {
  for (std::size_t reg = 0; reg < arch::kRegisterCount; ++reg)
    if (registers_.has(reg) && !capture.registers.has(reg))
      capture.registers.set(reg, registers_.get(reg));
}

bool RecordCollector::is_wanted(const wire::Capture& capture) const {
  const std::size_t vcpu = capture.vcpu.value;
  return vcpu < wanted_.size() && wanted_[vcpu] &&
         (capture.level == PrivilegeLevel::kUser ? user_ : kernel_);
}

void RecordCollector::add_capture(const wire::GuestRecord& record) {
  TimedCapture& timed = captures_.emplace_back();
  timed.counter = record.time;
  wire::Capture& capture = timed.capture;
  wire::capture_of(record.sample, VcpuId{record.cpu}, arch_, capture);
  if (!is_wanted(capture)) {
    capture.disposition = wire::Disposition::kSkipped;
    capture.level = PrivilegeLevel::kUnknown;
    capture.registers = {};
    capture.pieces.clear();
    capture.bytes.clear();
  }
  if (capture.disposition != wire::Disposition::kSampled) return;
  set_paging(capture);
  const std::uint8_t root = arch::info_of(arch_).user_root.reg;
  if (root != arch::kNoRegister && record.task.address_space != 0)
    capture.registers.set(root, record.task.address_space);
  if (record.task.is_known()) wire::add_task(record.task, capture);
}

void RecordCollector::date_events(std::uint64_t earliest_ns, std::uint64_t now_ns) {
  for (TimedEvent& event : events_) {
    if (event.came_ns != 0) continue;
    event.came_ns = now_ns;
    event.host_ns = std::max(earliest_ns, clock_.host_ns(event.counter));
    last_time_ns_ = std::max(last_time_ns_, event.host_ns);
  }
}

std::optional<std::uint64_t> RecordCollector::due(std::uint64_t now_ns, bool is_last) const {
  std::optional<std::uint64_t> counter;
  const bool all = is_last || events_.size() > kMostWaiting;
  for (const TimedEvent& event : events_) {
    const bool has_waited = all || now_ns - event.came_ns >= patience_ns_;
    if (has_waited && (!counter || event.counter > *counter)) counter = event.counter;
  }
  return counter;
}

void RecordCollector::release(std::uint64_t up_to) {
  const auto later =
      std::stable_partition(events_.begin(), events_.end(),
                            [up_to](const TimedEvent& event) { return event.counter <= up_to; });
  std::stable_sort(events_.begin(), later, is_earlier);
  std::move(events_.begin(), later, std::back_inserter(ready_));
  events_.erase(events_.begin(), later);
}

Tick RecordCollector::take_out(std::uint64_t now_ns, bool is_last) {
  Tick tick;
  if (newest_ != 0) clock_.look(newest_, now_ns);
  newest_ = 0;  // a counter may begin anew
  std::stable_sort(captures_.begin(), captures_.end(), is_earlier);
  // Neither goes back behind what the tick before had.
  const std::uint64_t before = last_time_ns_;
  for (TimedCapture& timed : captures_) {
    last_time_ns_ = std::max(last_time_ns_, clock_.host_ns(timed.counter));
    timed.capture.host_time_ns = last_time_ns_;
    tick.captures.push_back(std::move(timed.capture));
  }
  date_events(before, now_ns);
  if (const auto counter = due(now_ns, is_last)) release(*counter);
  for (TimedEvent& event : ready_) {
    last_event_ns_ = std::max(last_event_ns_, event.host_ns);
    tick.events.push_back({last_event_ns_, std::move(event.words)});
  }
  ready_.clear();
  const bool shows_code =
      std::any_of(tick.captures.begin(), tick.captures.end(), [](const wire::Capture& capture) {
        return capture.disposition == wire::Disposition::kSampled;
      });
  if (!shows_code && !tick.events.empty()) tick.reporter = std::exchange(reporter_, std::nullopt);
  if (tick.reporter) tick.reporter->host_time_ns = last_event_ns_;
  taken_ += tick.captures.size();
  captures_.clear();
  return tick;
}

}  // namespace ringside::engines::ring
