#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exporters/perf/perf_images.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters::perf {

// A thread as perf.data has it.
struct PerfThread {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  bool operator==(const PerfThread&) const = default;
};

// The thread of an owner's samples. Nobody's are of a thread -1; idle vCPUs are pid 0, the swapper.
[[nodiscard]] PerfThread thread_of(const profile::Owner& owner);
[[nodiscard]] std::string_view comm_of(const profile::DetailedProfile& profile,
                                       const profile::Owner& owner);

// The names of threads: which of them perf has to be told.
class ThreadComms {
 public:
  ThreadComms(const profile::DetailedProfile& profile, const PerfImages& images);

  struct Comm {
    PerfThread thread;
    std::string_view name;
  };
  // The first name of each thread, for the beginning.
  [[nodiscard]] const std::vector<Comm>& first() const { return first_; }
  // Whether a sample of that group needs its thread's name before it. It is taken as told.
  [[nodiscard]] bool must_tell(std::uint32_t group);

 private:
  static std::uint64_t key_of(PerfThread thread) {
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
