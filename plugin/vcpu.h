#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "plugin/guest.h"
#include "plugin/recent_runners.h"
#include "plugin/shared_ring.h"
#include "wire/capture.h"
#include "wire/sample_clock.h"

namespace ringside::plugin {

// One vCPU: takes its samples and answers ringside's requests, in its own thread.
class Vcpu {
 public:
  void attach(SharedRing& ring, unsigned number, Arch arch);
  // Samples are events: the number of ticks, then the addresses of walk_frame_pointers().
  void walk_stacks() { walks_ = true; }

  // Takes the sample that `ticks` ticks are due for.
  void sample(std::uint64_t ticks);
  // Answers ringside's request if it is for this vCPU and it can be answered now. True if one for
  // this vCPU is still open.
  bool serve();

 private:
  void copy_plan();
  [[nodiscard]] bool take(wire::Capture& capture, bool wants_memory);
  void copy_memory(wire::Capture& capture);
  void store_code(const wire::Capture& capture);
  // ringside may ask something while this vCPU waits for it.
  [[nodiscard]] SharedRing::Meanwhile meanwhile() {
    return [this] { (void)serve(); };
  }
  // False where there was no room.
  template <class What>
  [[nodiscard]] bool put(wire::SourceId source, const What& what);
  [[nodiscard]] bool put_sample(std::uint64_t ticks);
  [[nodiscard]] std::uint32_t answer(wire::MailboxRequest request);

  SharedRing* ring_ = nullptr;
  unsigned number_ = 0;
  Arch arch_ = Arch::kUnknown;
  Guest guest_;
  bool has_registers_ = false;
  bool walks_ = false;
  std::uint64_t kernel_samples_ = 0;
  std::uint64_t firmware_samples_ = 0;  // in a mode that may be a kernel's
  std::uint32_t plan_sequence_ = 0;
  wire::RingPlan plan_;
  std::uint32_t start_ = 0;  // ringside's, that is, whose samples runners_ is of
  RecentRunners runners_;
  wire::Capture capture_;  // its memory is used again and again
};

}  // namespace ringside::plugin
