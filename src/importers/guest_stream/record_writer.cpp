#include "importers/guest_stream/record_writer.h"

#include <algorithm>
#include <utility>

#include "unwind/walked_stack.h"
#include "wire/guest_capture.h"

namespace ringside::importers::guest_stream {
namespace {

constexpr std::size_t kMostNames = 1 << 20;

}  // namespace

RecordWriter::RecordWriter(recording::Writer& writer, const GuestClock& clock, Arch arch,
                           std::optional<elf::Image> kernel)
    : writer_(writer), clock_(clock), arch_(arch), unwinder_(images_), tables_(writer, clock.id) {
  if (kernel) images_.add(std::move(*kernel));
}

// A record that interrupts another one of its CPU may have the later time and the earlier place.
std::uint64_t RecordWriter::time_of(std::uint64_t counter) {
  const std::uint64_t ticks = counter - std::min(counter, clock_.first);
  constexpr long double kMost = 9e18L;
  const std::uint64_t time = clock_.hz > 0
                                 ? static_cast<std::uint64_t>(std::min(
                                       static_cast<long double>(ticks) * 1e9L / clock_.hz, kMost))
                                 : ticks;
  last_time_ = std::max(last_time_, started_ + time);
  return last_time_;
}

void RecordWriter::begin_anew(std::uint64_t first) {
  clock_.first = first;
  started_ = last_time_;
}

Result<void> RecordWriter::name_thread(const wire::GuestTask& task, std::uint64_t time) {
  if (task.name.empty() || names_.size() >= kMostNames) return {};
  std::string& known = names_[std::uint64_t{task.pid} << 32 | task.tid];
  if (known == task.name) return {};
  known = task.name;
  return writer_.add_thread_name({.time_ns = time,
                                  .pid = task.pid,
                                  .tid = task.tid,
                                  .address_space = task.address_space,
                                  .name = known});
}

Result<void> RecordWriter::add(const wire::GuestRecord& record) {
  recording::SampleInfo info;
  info.time_ns = time_of(record.time);
  info.vcpu = VcpuId{record.cpu};
  if (record.task.is_known()) {
    info.pid = record.task.pid;
    info.tid = record.task.tid;
    info.address_space = record.task.address_space;
    RINGSIDE_TRY(name_thread(record.task, info.time_ns));
  }
  switch (record.kind) {
    case wire::GuestRecordKind::kSample:
      return add_sample(record.sample, info);
    case wire::GuestRecordKind::kAllocation:
      return tables_.add(record.allocation, info.time_ns,
                         context_of(record.allocation.stack, info));
    case wire::GuestRecordKind::kEvent:
      return tables_.add(record.event, info.time_ns, context_of(record.event.stack, info));
    case wire::GuestRecordKind::kInfo:
      break;
  }
  return {};
}

Result<void> RecordWriter::add_sample(const wire::GuestSample& sample,
                                      recording::SampleInfo& info) {
  ++samples_;
  wire::capture_of(sample, info.vcpu, arch_, capture_);
  info.level = capture_.level;
  info.disposition = capture_.disposition;
  if (capture_.disposition != wire::Disposition::kSampled) return writer_.add_sample(info, nullptr);
  const auto user = unwind::walked_user_stack(capture_);
  if (capture_.level == PrivilegeLevel::kUser && user) return writer_.add_sample(info, &*user);
  const Stack kernel = unwinder_.unwind(capture_);
  if (!user) return writer_.add_sample(info, &kernel);
  const Stack* const parts[] = {&kernel, &*user};
  return writer_.add_sample(info, parts);
}

std::uint32_t RecordWriter::context_of(const wire::GuestFrames& frames,
                                       const recording::SampleInfo& info) {
  if (frames.addresses.empty()) return writer_.add_context(info, {});
  const recording::StackRef stack =
      writer_.add_stack(unwind::walked_stack(frames), info.address_space);
  return writer_.add_context(info, std::span(&stack, 1));
}

}  // namespace ringside::importers::guest_stream
