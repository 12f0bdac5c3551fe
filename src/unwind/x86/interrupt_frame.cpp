#include "unwind/x86/interrupt_frame.h"

#include "arch/arch_info.h"

namespace ringside::unwind::x86 {
namespace {

constexpr std::uint64_t kScanWords = 64;
// A stub stores the old stack pointer in the top slot, at the end of the scan at most.
constexpr std::uint64_t kLinkWords = 64;

bool is_canonical(std::uint64_t address) {
  const auto high = static_cast<std::int64_t>(address) >> 47;
  return high == 0 || high == -1;
}

// Intel SDM volume 1, 3.4.3: bit 1 is always set; 3, 5, 15 and those above 21 never are.
bool is_flags(std::uint64_t value) {
  constexpr std::uint64_t kAlwaysZero = ~std::uint64_t{0x3fffff} | 1u << 3 | 1u << 5 | 1u << 15;
  return (value & 2) != 0 && (value & kAlwaysZero) == 0;
}

// Linux lets a new program begin with no other flag than that interrupts are on (start_thread in
// arch/x86/kernel/process_32.c, start_thread_common in process_64.c): iret sets the rest.
bool begins_program(const InterruptFrame& frame) {
  constexpr std::uint64_t kInterruptsOn = 0x200;
  return frame.from_user() && frame.flags == kInterruptsOn;
}

// User mode's selectors: of ring 3, of two descriptors, neither of them the null one (Intel SDM
// volume 3, 3.4.2 and 5.2).
bool are_of_user(std::uint64_t cs, std::uint64_t ss) {
  const auto is_selector = [](std::uint64_t value) { return (value & 3) == 3 && value > 3; };
  return is_selector(cs) && is_selector(ss) && cs != ss;
}

std::optional<InterruptFrame> scan(const StackMemory& memory, GuestVirt from,
                                   const arch::ArchInfo& platform, const elf::ImageMap& images) {
  for (std::uint64_t i = 0; i < kScanWords; ++i) {
    const auto frame =
        read_interrupt_frame(memory, from + i * platform.roles.pointer_size, platform);
    if (frame && is_plausible(*frame, memory.capture(), images)) return frame;
  }
  return std::nullopt;
}

}  // namespace

std::optional<InterruptFrame> read_interrupt_frame(const StackMemory& memory, GuestVirt at,
                                                   const arch::ArchInfo& platform) {
  return make_interrupt_frame(at, platform, [&](std::uint64_t i) {
    return memory.read_pointer(at + i * platform.roles.pointer_size);
  });
}

bool is_plausible(const InterruptFrame& frame, const wire::Capture& capture,
                  const elf::ImageMap& images) {
  constexpr std::uint64_t kMaxSelector = 0xffff;
  const bool is_64_bit = capture.arch == Arch::kX86_64;
  if (frame.cs == 0 || frame.cs > kMaxSelector || frame.ss > kMaxSelector) return false;
  if (!is_flags(frame.flags) && !begins_program(frame)) return false;
  if (frame.from_user()) {
    // 32-bit kernels split the address space where they like.
    const bool low = is_64_bit ? frame.ip >> 47 == 0 && frame.sp >> 47 == 0
                               : images.find_code({frame.ip}) == nullptr;
    return low && are_of_user(frame.cs, frame.ss);
  }
  const std::uint8_t cs = arch::info_of(capture.arch).saved_mode.reg;
  const std::uint64_t kernel_cs =
      capture.registers.has(cs) ? capture.registers.get(cs) & ~std::uint64_t{3} : frame.cs;
  // The stack pointer may have any alignment: a leaf takes the bytes that it needs.
  return frame.cs == kernel_cs && is_canonical(frame.sp) && frame.sp != 0 &&
         images.find_code({frame.ip}) != nullptr;
}

std::optional<InterruptFrame> find_interrupt_frame(const StackMemory& memory, GuestVirt sp,
                                                   const arch::ArchInfo& platform,
                                                   const elf::ImageMap& images) {
  if (const auto frame = scan(memory, sp, platform, images)) return frame;
  const std::uint64_t size = platform.roles.pointer_size;
  for (std::uint64_t i = 0; i < kLinkWords; ++i) {
    const GuestVirt slot = sp + i * size;
    const auto word = memory.read_pointer(slot);
    if (!word) break;
    const GuestVirt target{*word};
    if (target.value % size != 0 || memory.piece_at(target) == nullptr ||
        memory.same_piece(target, slot))
      continue;
    if (const auto frame = scan(memory, target, platform, images)) return frame;
  }
  return std::nullopt;
}

}  // namespace ringside::unwind::x86
