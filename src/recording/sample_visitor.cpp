#include "recording/sample_visitor.h"

namespace ringside::recording {

void SampleVisitor::expand(std::uint32_t id, Sample& sample) const {
  const Context& context = contexts_[id];
  const Thread& thread = threads_[context.thread];
  SampleInfo& info = sample.info;
  info.vcpu = context.vcpu;
  info.level = context.level;
  info.disposition = context.disposition;
  info.address_space = context.address_space;
  info.pid = thread.pid;
  info.tid = thread.tid;
  info.thread_start_ns = thread.start_ns;
  info.state = context.state;
  info.waits_for = context.waits_for;
  sample.stacks.clear();
  for (std::uint32_t list = context.stacks; list != 0; list = lists_[list].rest)
    sample.stacks.push_back(lists_[list].stack);
}

void SampleVisitor::sample_batch(const SampleBatch& batch) {
  sample_.info.source = batch.source;
  for (std::size_t row = 0; row < batch.size(); ++row) {
    expand(batch.contexts[row], sample_);
    sample_.info.time_ns = batch.times[row];
    sample_.info.pause_ns = batch.pause(row);
    sample_.info.weight = static_cast<std::uint64_t>(batch.value(0, row));
    sample_.more_values.clear();
    for (std::size_t value = 1; value < batch.values.size(); ++value)
      sample_.more_values.push_back(batch.value(value, row));
    sample(sample_);
  }
}

}  // namespace ringside::recording
