#pragma once

#include <vector>

#include "base/stack.h"
#include "base/types.h"

namespace ringside::guestos {

// Which of a kernel's code runs because of an interrupt. The unwinder sees that something was
// interrupted, and cannot distinguish a timer from a page fault; in an interrupt of user code it
// sees nothing at all, for its walk ends there.
class InterruptCode {
 public:
  struct Range {
    GuestVirt start;
    GuestVirt end;  // behind the last byte
  };

  // Nothing is known of the kernel.
  InterruptCode() = default;
  // `own` runs in interrupts only (their entries, or what those call); `shared` are entries of
  // other exceptions, too, which are an interrupt's where they have called code of its own.
  InterruptCode(std::vector<Range> own, std::vector<Range> shared);

  // Gives the frames of a kernel's stack the kind kInterrupt, from the outermost interrupt's entry
  // to the leaf, and the others kKernel. Where nothing is known of the kernel they stay as they
  // are.
  void mark(Stack& stack) const;

 private:
  [[nodiscard]] static bool contains(const std::vector<Range>& ranges, const Frame& frame);
  // Where such frames end, from the leaf on.
  [[nodiscard]] std::size_t interrupt_frames(const Stack& stack) const;

  std::vector<Range> own_;  // sorted by start
  std::vector<Range> shared_;
};

}  // namespace ringside::guestos
