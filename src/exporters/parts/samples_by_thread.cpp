#include "exporters/parts/samples_by_thread.h"

namespace ringside::exporters {

void SamplesByThread::sample(const profile::TimedSample& sample) {
  if (sample.source != source_) return;
  groups_.push_back(sample.group);
  times_.push_back(sample.time);
}

void SamplesByThread::sort(const ThreadTable& table) {
  rows_ = RowsByThread(table.threads().size(), times_,
                       [&](std::uint32_t row) { return table.of(profile_, groups_[row]); });
}

}  // namespace ringside::exporters
