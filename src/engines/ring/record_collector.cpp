#include "engines/ring/record_collector.h"

#include <algorithm>
#include <utility>

#include "arch/arch_info.h"
#include "wire/guest_capture.h"

namespace ringside::engines::ring {

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
  events_.push_back({record.time, {words.begin(), words.end()}});
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

Tick RecordCollector::take_out(std::uint64_t now_ns) {
  Tick tick;
  if (captures_.empty() && events_.empty()) return tick;
  clock_.look(newest_, now_ns);
  const auto is_earlier = [](const auto& a, const auto& b) { return a.counter < b.counter; };
  std::stable_sort(captures_.begin(), captures_.end(), is_earlier);
  std::stable_sort(events_.begin(), events_.end(), is_earlier);
  // Neither goes back behind what the tick before had.
  const std::uint64_t before = last_time_ns_;
  for (TimedCapture& timed : captures_) {
    last_time_ns_ = std::max(last_time_ns_, clock_.host_ns(timed.counter));
    timed.capture.host_time_ns = last_time_ns_;
    tick.captures.push_back(std::move(timed.capture));
  }
  std::uint64_t event_time = before;
  for (TimedEvent& event : events_) {
    event_time = std::max(event_time, clock_.host_ns(event.counter));
    tick.events.push_back({event_time, std::move(event.words)});
  }
  last_time_ns_ = std::max(last_time_ns_, event_time);
  const bool shows_code =
      std::any_of(tick.captures.begin(), tick.captures.end(), [](const wire::Capture& capture) {
        return capture.disposition == wire::Disposition::kSampled;
      });
  if (!shows_code) tick.reporter = std::move(reporter_);
  if (tick.reporter) tick.reporter->host_time_ns = last_time_ns_;
  reporter_.reset();
  newest_ = 0;  // a counter may begin anew
  taken_ += tick.captures.size();
  captures_.clear();
  events_.clear();
  return tick;
}

}  // namespace ringside::engines::ring
