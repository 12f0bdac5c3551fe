#include "recording/old_samples.h"

#include <string>

#include "recording/replay.h"

namespace ringside::recording {

std::uint32_t OldSamples::source_of(WeightUnit unit, Replay& replay) {
  std::uint32_t& id = sources_[static_cast<std::size_t>(unit)];
  if (id != 0) return id;
  Source source = cpu_source(header_);
  if (unit != WeightUnit::kTicks) {
    source.id += 1 + static_cast<std::uint32_t>(unit);
    source.name = name_of(unit);
    source.kind = SourceKind::kOther;
    source.period = 0;
    source.values = {{std::string(name_of(unit)), unit, 1}};
  }
  id = source.id;
  (void)replay.add(source);
  return id;
}

// A recording has contexts of one version only, so that those of the table get the same numbers
// from the replay.
std::uint32_t OldSamples::context_of(const OldSample& sample, Replay& replay) {
  static const OldSample lost = [] {
    OldSample nothing;
    nothing.info.vcpu = kNoVcpu;
    nothing.stacks.push_back({kLostStack, StopReason::kNoRule, {}, {}});
    return nothing;
  }();
  const OldSample& kept = replay.is_full() ? lost : sample;
  const std::uint32_t number = contexts_.intern(kept.info, kept.stacks);
  if (contexts_.pending_count() == 0) return number;
  (void)replay.may_add_entry(contexts_.pending_count());
  for (const Thread& thread : contexts_.threads().pending()) replay.add(thread);
  for (const StackList& list : contexts_.lists().pending()) replay.add(list);
  for (const Context& context : contexts_.pending()) replay.add(context);
  contexts_.clear_pending();
  return number;
}

void OldSamples::add(protozero::pbf_reader message, Replay& replay) {
  decode_sample(message, sample_);
  for (StackRef& stack : sample_.stacks) replay.resolve(stack);
  batch_.clear();
  batch_.source = source_of(sample_.unit, replay);
  batch_.times.push_back(sample_.info.time_ns);
  batch_.pauses.push_back(sample_.info.pause_ns);
  batch_.values.resize(1);
  batch_.values.front().push_back(static_cast<std::int64_t>(sample_.info.weight));
  batch_.contexts.push_back(context_of(sample_, replay));
  replay.add(batch_);
}

}  // namespace ringside::recording
