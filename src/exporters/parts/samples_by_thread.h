#pragma once

#include <cstdint>

#include "base/large_vector.h"
#include "exporters/parts/rows_by_thread.h"
#include "exporters/parts/thread_table.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters {

// The samples of one source, for formats that write one thread after the other. 16 bytes a sample.
class SamplesByThread final : public profile::SampleReceiver {
 public:
  // `source`: in DetailedProfile::sources().
  SamplesByThread(const profile::DetailedProfile& profile, std::uint32_t source)
      : profile_(profile), source_(source) {}
  void sample(const profile::TimedSample& sample) override;

  // To be called when all samples have come.
  void sort(const ThreadTable& table);
  struct Row {
    std::uint32_t group = 0;
    std::uint64_t time = 0;
  };
  [[nodiscard]] std::size_t count_of(std::uint32_t thread) const { return rows_.of(thread).size(); }
  // The thread's sample at that place in order of time.
  [[nodiscard]] Row row(std::uint32_t thread, std::size_t place) const {
    const std::uint32_t index = rows_.of(thread)[place];
    return {groups_[index], times_[index]};
  }

 private:
  const profile::DetailedProfile& profile_;
  std::uint32_t source_;
  LargeVector<std::uint32_t> groups_;
  LargeVector<std::uint64_t> times_;
  RowsByThread rows_;  // of the above
};

}  // namespace ringside::exporters
