#pragma once

#include <optional>

#include "elf/image_map.h"
#include "unwind/machine_state.h"
#include "unwind/stack_memory.h"

namespace ringside::unwind::x86_64 {

// What the CPU pushes when it delivers an interrupt in 64-bit mode, lowest address first (Intel SDM
// volume 3, 6.14.2). An error code, where there is one, lies below.
struct InterruptFrame {
  static constexpr std::uint64_t kSize = 40;

  GuestVirt address;
  std::uint64_t rip = 0;
  std::uint64_t cs = 0;
  std::uint64_t rflags = 0;
  std::uint64_t rsp = 0;
  std::uint64_t ss = 0;

  [[nodiscard]] bool from_user() const { return (cs & 3) == 3; }
  [[nodiscard]] GuestVirt rsp_slot() const { return address + 24; }
};

[[nodiscard]] std::optional<InterruptFrame> read_interrupt_frame(const StackMemory& memory,
                                                                 GuestVirt at);

// Whether five words look like an interrupt frame: rip in an image's code (or below the kernel's
// half, for user code), cs the kernel's or one of ring 3, rflags as hardware leaves them, rsp
// aligned, ss a small selector.
[[nodiscard]] bool is_plausible(const InterruptFrame& frame, const wire::Capture& capture,
                                const elf::ImageMap& images);

// Looks for an interrupt frame in the 64 words from `sp` up, and behind each of the nearest words
// that may be the stack pointer of another stack, saved by a stack switch.
[[nodiscard]] std::optional<InterruptFrame> find_interrupt_frame(const StackMemory& memory,
                                                                 GuestVirt sp,
                                                                 const elf::ImageMap& images);

}  // namespace ringside::unwind::x86_64
