#include "plugin/block_end.h"

#include <cstdint>

namespace ringside::plugin {
namespace {

std::uint32_t little_endian(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n)
    value |= static_cast<std::uint32_t>(bytes[n]) << (8 * n);
  return value;
}

// Whether the field of `width` bits from bit `first` on is above 0 as a signed number.
bool is_positive(std::uint32_t word, unsigned first, unsigned width) {
  const std::uint32_t field = word >> first & ((1u << width) - 1);
  return field != 0 && field >> (width - 1) == 0;
}

// Jcc rel8 and rel32, which count from the instruction's end (Intel SDM, volume 2A, Jcc).
bool x86_only_skips(std::span<const std::byte> code) {
  const auto byte = [&](std::size_t n) { return static_cast<std::uint8_t>(code[n]); };
  const bool is_short = code.size() == 2 && byte(0) >> 4 == 0x7;
  const bool is_near = code.size() == 6 && byte(0) == 0x0f && byte(1) >> 4 == 0x8;
  return (is_short || is_near) && byte(code.size() - 1) < 0x80;
}

// B.cond, CBZ and CBNZ, TBZ and TBNZ (Arm ARM, C4.1, "Branches").
bool aarch64_only_skips(std::span<const std::byte> code) {
  if (code.size() != 4) return false;
  const std::uint32_t word = little_endian(code);
  if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
    return is_positive(word, 5, 19);
  return (word & 0x7e000000) == 0x36000000 && is_positive(word, 5, 14);
}

// BRANCH, C.BEQZ and C.BNEZ; the offset's sign is the instruction's bit 31, or 12 of a compressed
// one (RISC-V unprivileged ISA, "Conditional Branches" and the chapter on "C"). One to itself is
// as good as backward.
bool riscv64_only_skips(std::span<const std::byte> code) {
  const std::uint32_t word = code.size() <= 4 ? little_endian(code) : 0;
  if (code.size() == 4) return (word & 0x7f) == 0x63 && word >> 31 == 0 && (word & 0x7e000f80) != 0;
  return code.size() == 2 && (word & 0xc003) == 0xc001 && (word >> 12 & 1) == 0 &&
         (word & 0x0c7c) != 0;
}

}  // namespace

bool only_skips(Arch arch, std::span<const std::byte> instruction) {
  switch (arch) {
    case Arch::kX86_64:
    case Arch::kI386:
      return x86_only_skips(instruction);
    case Arch::kAArch64:
      return aarch64_only_skips(instruction);
    case Arch::kRiscv64:
      return riscv64_only_skips(instruction);
    case Arch::kUnknown:
      break;
  }
  return false;
}

}  // namespace ringside::plugin
