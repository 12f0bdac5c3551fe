#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/stack.h"
#include "wire/capture.h"
#include "wire/guest_record.h"

namespace ringside::wire {

// A stack that the guest itself has walked: the pc, then return addresses, the innermost first.
// A piece of kind kKernelFrames or kUserFrames has it, in words of 8 bytes: the number of its
// StopReason, how many interruptions, those (GUEST_RING.md), then the addresses.
class WalkedFrames {
 public:
  // The code at a frame's address was interrupted, with these registers.
  struct Interruption {
    std::size_t frame = 0;
    std::uint64_t sp = 0;
    std::uint64_t fp = 0;
    std::vector<std::uint64_t> words;  // x86: from sp up; else the link register
  };

  // The first piece of that kind; nothing where there is none, or it makes no sense.
  [[nodiscard]] static std::optional<WalkedFrames> find(const Capture& capture, PieceKind kind);

  [[nodiscard]] std::size_t size() const { return addresses_.size() / sizeof(std::uint64_t); }
  [[nodiscard]] GuestVirt at(std::size_t n) const;
  [[nodiscard]] StopReason stop() const { return stop_; }
  [[nodiscard]] const std::vector<Interruption>& interruptions() const { return interruptions_; }

 private:
  WalkedFrames() = default;

  Bytes addresses_;
  StopReason stop_ = StopReason::kEndOfStack;
  std::vector<Interruption> interruptions_;
};

// Whether the guest has walked a stack of the capture.
[[nodiscard]] bool is_walked(const Capture& capture);

// Adds a piece with such a stack.
void add_walked_frames(PieceKind kind, const GuestFrames& frames, Capture& capture);

}  // namespace ringside::wire
