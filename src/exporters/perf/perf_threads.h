#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exporters/parts/thread_numbers.h"
#include "exporters/perf/perf_images.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters::perf {

// The names of threads: which of them perf has to be told.
class ThreadComms {
 public:
  ThreadComms(const profile::DetailedProfile& profile, const PerfImages& images);

  struct Comm {
    ThreadNumbers thread;
    std::string_view name;
  };
  // The first name of each thread, for the beginning.
  [[nodiscard]] const std::vector<Comm>& first() const { return first_; }
  // Whether a sample of that group needs its thread's name before it. It is taken as told.
  [[nodiscard]] bool must_tell(std::uint32_t group);

 private:
  static std::uint64_t key_of(ThreadNumbers thread) {
    return std::uint64_t{thread.pid} << 32 | thread.tid;
  }
  struct Told {
    std::string_view name;
    bool has_others = false;
  };

  const profile::DetailedProfile& profile_;
  bool has_several_sources_;
  std::vector<Comm> first_;
  std::unordered_map<std::uint64_t, Told> told_;  // by thread
};

}  // namespace ringside::exporters::perf
