#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exporters/firefox/sample_rows.h"
#include "exporters/parts/rows_by_thread.h"

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
  std::vector<std::uint32_t> of_group;  // the thread of each group, or RowsByThread::kNoThread
};

// A thread for each vCPU, with all its ticks, also those that gave no sample.
[[nodiscard]] ThreadPlan plan_vcpus(const profile::DetailedProfile& profile,
                                    const SampleRows& rows);
// A thread for each of the guest's, with what it was sampled at. Where the guest's processes are
// not known it has only what no vCPU is known of.
[[nodiscard]] ThreadPlan plan_guest(const profile::DetailedProfile& profile,
                                    const SampleRows& rows);

// The rows of each thread.
[[nodiscard]] RowsByThread rows_by_thread(const ThreadPlan& plan, const SampleRows& rows);

// Whether it is a sample, of code or of an idle vCPU.
[[nodiscard]] bool is_sample(const profile::DetailedProfile& profile, std::uint32_t group);

}  // namespace ringside::exporters::firefox
