#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/detailed_profile.h"

namespace ringside::exporters {

// The threads whose samples a recording has, in order of their numbers; then processes of which the
// name alone is there. Samples of no thread that is known belong to their vCPU.
class ThreadTable {
 public:
  explicit ThreadTable(const profile::DetailedProfile& profile);

  struct Thread {
    std::optional<std::uint32_t> pid;
    std::uint32_t tid = 0;
    profile::StringId comm = 0;        // of a process without a pid, …
    VcpuId vcpu = recording::kNoVcpu;  // … else of what has none
    std::string name;                  // "dd 12/13", "vcpu 0"
  };
  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }
  // In threads().
  [[nodiscard]] std::uint32_t of(const profile::DetailedProfile& profile,
                                 std::uint32_t group) const {
    return by_owner_[profile.owner_id(group)];
  }

 private:
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> by_owner_;
};

}  // namespace ringside::exporters
