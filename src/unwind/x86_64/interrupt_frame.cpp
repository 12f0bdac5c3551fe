#include "unwind/x86_64/interrupt_frame.h"

namespace ringside::unwind::x86_64 {
namespace {

constexpr std::uint64_t kScanWords = 64;
// A stub stores the old stack pointer in the top slot, at the end of the scan at most.
constexpr std::uint64_t kLinkWords = 64;

bool is_canonical(std::uint64_t address) {
  const auto high = static_cast<std::int64_t>(address) >> 47;
  return high == 0 || high == -1;
}

// Intel SDM volume 1, 3.4.3: bit 1 is always set; 3, 5, 15 and those above 21 never are.
bool is_rflags(std::uint64_t value) {
  constexpr std::uint64_t kAlwaysZero = ~std::uint64_t{0x3fffff} | 1u << 3 | 1u << 5 | 1u << 15;
  return (value & 2) != 0 && (value & kAlwaysZero) == 0;
}

std::optional<InterruptFrame> scan(const StackMemory& memory, GuestVirt from,
                                   const elf::ImageMap& images) {
  for (std::uint64_t i = 0; i < kScanWords; ++i) {
    const auto frame = read_interrupt_frame(memory, from + i * 8);
    if (frame && is_plausible(*frame, memory.capture(), images)) return frame;
  }
  return std::nullopt;
}

}  // namespace

std::optional<InterruptFrame> read_interrupt_frame(const StackMemory& memory, GuestVirt at) {
  const auto rip = memory.read_u64(at);
  const auto cs = memory.read_u64(at + 8);
  const auto rflags = memory.read_u64(at + 16);
  const auto rsp = memory.read_u64(at + 24);
  const auto ss = memory.read_u64(at + 32);
  if (!rip || !cs || !rflags || !rsp || !ss) return std::nullopt;
  return InterruptFrame{at, *rip, *cs, *rflags, *rsp, *ss};
}

bool is_plausible(const InterruptFrame& frame, const wire::Capture& capture,
                  const elf::ImageMap& images) {
  constexpr std::uint64_t kMaxSelector = 0xffff;
  if (frame.cs == 0 || frame.cs > kMaxSelector || frame.ss > kMaxSelector) return false;
  if (!is_rflags(frame.rflags)) return false;
  if (frame.from_user()) return frame.rip >> 47 == 0 && frame.rsp >> 47 == 0 && (frame.ss & 3) == 3;
  const std::uint64_t kernel_cs = capture.registers.has(wire::x86_64::kCs)
                                      ? capture.registers.get(wire::x86_64::kCs) & ~std::uint64_t{3}
                                      : frame.cs;
  return frame.cs == kernel_cs && is_canonical(frame.rsp) && frame.rsp % 8 == 0 && frame.rsp != 0 &&
         images.find_code({frame.rip}) != nullptr;
}

std::optional<InterruptFrame> find_interrupt_frame(const StackMemory& memory, GuestVirt sp,
                                                   const elf::ImageMap& images) {
  if (const auto frame = scan(memory, sp, images)) return frame;
  for (std::uint64_t i = 0; i < kLinkWords; ++i) {
    const GuestVirt slot = sp + i * 8;
    const auto word = memory.read_u64(slot);
    if (!word) break;
    const GuestVirt target{*word};
    if (target.value % 8 != 0 || memory.piece_at(target) == nullptr ||
        memory.same_piece(target, slot))
      continue;
    if (const auto frame = scan(memory, target, images)) return frame;
  }
  return std::nullopt;
}

}  // namespace ringside::unwind::x86_64
