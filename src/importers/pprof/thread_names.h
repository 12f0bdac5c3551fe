#pragma once

#include <string_view>
#include <unordered_map>

#include "importers/pprof/sample_owner.h"
#include "recording/writer.h"

namespace ringside::importers::pprof {

// Tells a recording the names of threads where they are new or have changed. Samples with a name
// and without numbers get numbers in the order in which the names were seen, from 1, if no sample
// before had any. A thread of no process is the only one of its own.
class ThreadNames {
 public:
  explicit ThreadNames(recording::Writer& writer) : writer_(writer) {}

  // `owner` is of a sample of that time. Errors: the writer's.
  [[nodiscard]] Result<void> add(std::uint64_t time, SampleOwner& owner);

 private:
  struct Called {
    std::string_view name;
    std::string_view cgroup;
    bool operator==(const Called&) const = default;
  };
  recording::Writer& writer_;
  std::unordered_map<std::uint64_t, Called> called_;          // by pid and tid
  std::unordered_map<std::string_view, std::uint32_t> pids_;  // that the names have got
  bool has_numbers_ = false;
};

}  // namespace ringside::importers::pprof
