#pragma once

#include <optional>

#include "arch/arch_info.h"
#include "elf/image_map.h"
#include "unwind/machine_state.h"
#include "unwind/stack_memory.h"

namespace ringside::unwind::x86 {

// The frame that the CPU pushes when it delivers an interrupt, lowest address first: ip, cs, flags,
// sp, ss (Intel SDM volume 3, 6.14.2). An error code, where there is one, lies below. In 32-bit
// code sp and ss are pushed only where the privilege level changes (6.12.1); else the interrupted
// stack pointer is the address above flags.
struct InterruptFrame {
  GuestVirt address;
  std::uint64_t ip = 0;
  std::uint64_t cs = 0;
  std::uint64_t flags = 0;
  std::uint64_t sp = 0;
  std::uint64_t ss = 0;
  GuestVirt sp_slot = {};  // 0: the stack pointer was not pushed

  [[nodiscard]] bool from_user() const { return (cs & 3) == 3; }
};

// Puts a frame together from words: word(i) is the one at `at` + i words, or nothing.
template <class Word>
[[nodiscard]] std::optional<InterruptFrame> make_interrupt_frame(GuestVirt at,
                                                                 const arch::ArchInfo& platform,
                                                                 const Word& word) {
  const std::uint64_t size = platform.roles.pointer_size;
  const auto ip = word(0);
  const auto cs = word(1);
  const auto flags = word(2);
  if (!ip || !cs || !flags) return std::nullopt;
  InterruptFrame frame{.address = at, .ip = *ip, .cs = *cs, .flags = *flags};
  if (platform.id == Arch::kI386) {
    frame.cs &= 0xffff;  // iret ignores the rest, where Linux keeps notes
    if (!frame.from_user()) {
      frame.sp = at.value + 3 * size;
      return frame;
    }
  }
  const auto sp = word(3);
  const auto ss = word(4);
  if (!sp || !ss) return std::nullopt;
  frame.sp = *sp;
  frame.ss = *ss;
  frame.sp_slot = at + 3 * size;
  return frame;
}

[[nodiscard]] std::optional<InterruptFrame> read_interrupt_frame(const StackMemory& memory,
                                                                 GuestVirt at,
                                                                 const arch::ArchInfo& platform);

// Whether the words look like an interrupt frame: ip in an image's code (or below the kernel's
// half, for user code), cs the kernel's or one of ring 3, flags as hardware leaves them, sp
// aligned, ss a small selector.
[[nodiscard]] bool is_plausible(const InterruptFrame& frame, const wire::Capture& capture,
                                const elf::ImageMap& images);

// Looks for an interrupt frame in the 64 words from `sp` up, and behind each of the nearest words
// that may be the stack pointer of another stack, saved by a stack switch.
[[nodiscard]] std::optional<InterruptFrame> find_interrupt_frame(const StackMemory& memory,
                                                                 GuestVirt sp,
                                                                 const arch::ArchInfo& platform,
                                                                 const elf::ImageMap& images);

}  // namespace ringside::unwind::x86
