#pragma once

#include <vector>

#include "engines/engine.h"
#include "guestos/adapter.h"
#include "session/sampling/capture_feedback.h"
#include "session/sampling/options.h"

namespace ringside::session {

// Makes the plan of the next tick from the adapter's recipes and from what unwinding has taught.
// Belongs to the thread that samples.
class CapturePlanner {
 public:
  CapturePlanner(const CaptureFeedback& feedback, const SamplingOptions& options,
                 std::size_t vcpus);

  // The plan is valid until the next call.
  [[nodiscard]] engines::TickPlan plan(const guestos::Adapter& adapter);
  // Looks at what the guest's kernel ran as.
  void poll(const engines::Tick& tick, guestos::Adapter& adapter);
  // The adapter has found out more: its recipes are to be asked for again.
  void renew() { stale_ = true; }

 private:
  const CaptureFeedback* feedback_;
  bool kernel_;
  bool user_;
  bool halted_;
  bool states_;
  bool stale_ = true;
  std::uint64_t generation_ = 0;
  std::vector<std::vector<wire::RecipeOp>> recipes_;
  std::vector<engines::VcpuPlan> vcpus_;
};

}  // namespace ringside::session
