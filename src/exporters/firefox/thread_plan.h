#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exporters/firefox/sample_rows.h"

namespace ringside::exporters::firefox {

// How a thread is called in the profile.
struct ThreadHead {
  std::string name;
  std::string process;
  std::string pid;
  std::string tid;  // a number, or a quoted text: JSON
  bool is_main = false;
  std::uint64_t samples = 0;
};

// Threads that share out the samples of one source.
struct ThreadPlan {
  std::vector<ThreadHead> threads;
  std::vector<std::uint32_t> of_group;  // the thread of each group; kNoThread: it is in none
};
inline constexpr std::uint32_t kNoThread = 0xffffffff;

// A thread for each vCPU, with all its ticks, also those that gave no sample.
[[nodiscard]] ThreadPlan plan_vcpus(const profile::DetailedProfile& profile,
                                    const SampleRows& rows);
// A thread for each of the guest's, with what it was sampled at. Where the guest's processes are
// not known it has only what no vCPU is known of.
[[nodiscard]] ThreadPlan plan_guest(const profile::DetailedProfile& profile,
                                    const SampleRows& rows);

// The rows of each thread, in their order.
class RowsByThread {
 public:
  RowsByThread(const ThreadPlan& plan, const SampleRows& rows);
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t thread) const {
    return std::span(rows_).subspan(ends_[thread], ends_[thread + 1] - ends_[thread]);
  }

 private:
  std::vector<std::size_t> ends_;  // of the thread before
  std::vector<std::uint32_t> rows_;
};

// Whether it is a sample, of code or of an idle vCPU.
[[nodiscard]] bool is_sample(const profile::DetailedProfile& profile, std::uint32_t group);

}  // namespace ringside::exporters::firefox
