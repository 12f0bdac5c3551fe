#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/stack.h"
#include "base/types.h"
#include "session/early_samples.h"

namespace ringside::session {

// One state of each vCPU, as whole as it can be had. The first sample knows neither the process nor
// another stack that the kernel came from, nor how much of a stack to copy; the next one does. So
// samples are taken in rounds until each vCPU's stack is complete and its process known.
class OneShot {
 public:
  // Rounds count when the kernel is known, or has been looked for that long.
  static constexpr std::uint64_t kMostRounds = 3;
  static constexpr std::uint64_t kKernelPatienceNs = 1'500'000'000;
  // A vCPU that gives no state is tried for that long.
  static constexpr std::uint64_t kPatienceNs = 3'000'000'000;

  // A state that was kept, where something of it is missing.
  struct Gap {
    VcpuId vcpu;
    bool is_missing = false;             // there is no state
    std::optional<StopReason> cut = {};  // why the stack does not reach its end
    bool has_no_process = false;         // it is not known
    bool operator==(const Gap&) const = default;
  };

  explicit OneShot(std::size_t vcpus) : vcpus_(vcpus) {}

  // Takes a sample in place of what was kept of its vCPU, unless that is better. Returns how many
  // ticks the one that goes stands for. `has_processes`: the guest's kernel names them.
  std::uint64_t keep(EarlySamples::Sample sample, bool has_processes);
  // Another kernel runs, or it is identified now: what was kept says less than what comes. Returns
  // how many ticks that stood for.
  std::uint64_t start_over();
  // All samples of a tick were kept.
  void end_round(std::uint64_t now_ns, bool kernel_is_known);
  [[nodiscard]] bool is_done(std::uint64_t now_ns) const;
  [[nodiscard]] std::uint64_t rounds() const { return rounds_; }
  // By vCPU.
  [[nodiscard]] std::vector<Gap> gaps() const;
  // All that was kept is of one stop.
  [[nodiscard]] bool is_of_one_moment() const;
  [[nodiscard]] Result<void> write(const EarlySamples::Write& write) const;

 private:
  struct Kept {
    EarlySamples::Sample sample;
    Gap gap;
    bool is_new = false;       // of this round
    std::uint64_t states = 0;  // so many rounds that count have given one
  };
  std::size_t vcpus_;
  std::map<std::uint16_t, Kept> kept_;  // by vCPU
  std::uint64_t rounds_ = 0;
  bool counts_ = false;         // rounds do
  std::uint64_t first_ns_ = 0;  // of the first round's end
};

}  // namespace ringside::session
