#include "importers/redox/sample_writer.h"

#include <algorithm>

namespace ringside::importers::redox {
namespace {

Frame frame_of(GuestVirt address, FrameSource source) {
  const bool is_user = is_user_address(address.value);
  return {.address = address,
          .exact = source == FrameSource::kRegisters,
          .source = source,
          .kind = is_user ? FrameKind::kUser : FrameKind::kKernel};
}

}  // namespace

std::uint64_t nanoseconds_of(std::uint64_t ticks, double ticks_per_second) {
  constexpr long double kMost = 9e18L;
  const long double ns = static_cast<long double>(ticks) * 1e9L / ticks_per_second;
  return static_cast<std::uint64_t>(std::min(ns, kMost));
}

Result<void> SampleWriter::add(const RingSample& sample, VcpuId vcpu) {
  recording::SampleInfo info;
  info.time_ns = time_of(sample);
  info.vcpu = vcpu;
  info.level = sample.is_user() ? PrivilegeLevel::kUser : PrivilegeLevel::kKernel;
  if (sample.context) RINGSIDE_TRY(take_context(*sample.context, info));
  kernel_.frames.clear();
  user_.frames.clear();
  const auto part_of = [&](GuestVirt address) -> Stack& {
    return is_user_address(address.value) ? user_ : kernel_;
  };
  part_of(sample.pc).frames.push_back(frame_of(sample.pc, FrameSource::kRegisters));
  for (const GuestVirt caller : sample.callers) {
    Stack& part = part_of(caller);
    // Behind the kernel's frames stands the address to which the system call returns.
    const bool is_entry = part.frames.empty();
    part.frames.push_back(
        frame_of(caller, is_entry ? FrameSource::kInterruptFrame : FrameSource::kFramePointer));
  }
  Stack& last = user_.frames.empty() ? kernel_ : user_;
  kernel_.stop = StopReason::kUserMode;
  last.stop = sample.stop;
  last.stopped_at = sample.stopped_at;
  ++samples_;
  if (kernel_.frames.empty()) return writer_.add_sample(info, &user_);
  if (user_.frames.empty()) return writer_.add_sample(info, &kernel_);
  const Stack* const parts[] = {&kernel_, &user_};
  return writer_.add_sample(info, parts);
}

std::uint64_t SampleWriter::time_of(const RingSample& sample) const {
  const std::uint64_t ticks = sample.counter - first_;
  return options_.counter_hz > 0 ? nanoseconds_of(ticks, options_.counter_hz) : ticks;
}

// Nothing is known of its address space but that it is the context's.
Result<void> SampleWriter::take_context(std::uint32_t context, recording::SampleInfo& info) {
  info.pid = context;
  info.tid = context;
  info.address_space = std::uint64_t{context} + 1;
  const auto name = options_.context_names.find(context);
  if (name == options_.context_names.end() || !named_.insert(context).second) return {};
  return writer_.add_thread_name({.time_ns = info.time_ns,
                                  .pid = context,
                                  .tid = 0,
                                  .address_space = info.address_space,
                                  .name = name->second});
}

}  // namespace ringside::importers::redox
