#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "importers/perf_data/side_records.h"
#include "recording/writer.h"

namespace ringside::importers::perf_data {

// The names and control groups of threads. They are recorded when a sample needs them.
class Threads {
 public:
  void set_name(const CommRecord& comm);
  void fork(const ForkRecord& fork);
  void set_cgroup(const CgroupRecord& cgroup);

  // For a sample of that thread and control group (0: not known) which is about to be recorded.
  [[nodiscard]] Result<void> note(std::uint32_t pid, std::uint32_t tid, std::uint64_t cgroup,
                                  std::uint64_t time_ns, recording::Writer& writer);

  // The names that threads got since their last samples, and those of the main threads of their
  // processes. To be called when all are recorded.
  [[nodiscard]] Result<void> finish(std::uint64_t time_ns, recording::Writer& writer) const;

 private:
  static constexpr std::size_t kMost = 1 << 20;
  static constexpr std::size_t kMostCgroups = 1 << 16;

  struct Thread {
    std::uint32_t pid = 0;
    std::string name;
    std::uint64_t cgroup = 0;
    bool is_recorded = true;  // name and control group are; so they are where there are none
    bool has_samples = false;
    std::uint64_t last_use = 0;
  };
  Thread& thread(std::uint32_t pid, std::uint32_t tid);
  [[nodiscard]] Result<void> record(std::uint32_t tid, const Thread& thread, std::uint64_t time_ns,
                                    recording::Writer& writer) const;

  std::unordered_map<std::uint32_t, Thread> threads_;  // by tid
  std::unordered_map<std::uint64_t, std::string> cgroups_;
  std::uint64_t uses_ = 0;
};

}  // namespace ringside::importers::perf_data
