#pragma once

#include <optional>
#include <set>
#include <string>

#include "importers/pprof/messages.h"
#include "recording/samples.h"

namespace ringside::importers::pprof {

// Where a sample was taken, by its labels.
struct SampleOwner {
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::string_view name;    // of the thread, or else of its process
  std::string_view cgroup;  // empty: not known
  VcpuId vcpu = recording::kNoVcpu;
  std::optional<PrivilegeLevel> level;  // none: the sample's mapping says it
  bool is_idle = false;
};

// Reads labels: "pid", "tid", "comm", "cgroup", "vcpu" and "mode" as ringside writes them, those of
// perf_to_profile (google/perf_data_converter: "thread_comm", "execution_mode", "cpu"), and the
// keys "thread", "thread_name", "thread name" and "thread id". Numbers may be texts.
class LabelReader {
 public:
  explicit LabelReader(const Messages& messages) : messages_(messages) {}

  // Takes a label of the sample whose owner that is. False where it is broken.
  [[nodiscard]] bool add(std::string_view label, SampleOwner& owner);
  // The keys of labels that have no place in a recording; at most some.
  [[nodiscard]] const std::set<std::string>& others() const { return others_; }

 private:
  const Messages& messages_;
  std::set<std::string> others_;
  TextIndex last_other_ = 0;
};

}  // namespace ringside::importers::pprof
