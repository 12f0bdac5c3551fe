#include "annotation/riscv_targets.h"

#include <string>

#include "annotation/disassembler.h"

namespace ringside::annotation {
namespace {

// `count` bits of `value` from `from` on, moved to the bit `to`.
constexpr std::uint32_t bits(std::uint32_t value, int from, int count, int to) {
  return (value >> from & ((1u << count) - 1)) << to;
}

// `value` has `count` bits, of which the highest is the sign.
constexpr std::int64_t extended(std::uint32_t value, int count) {
  const std::int64_t sign = std::int64_t{1} << (count - 1);
  return (static_cast<std::int64_t>(value) ^ sign) - sign;
}

std::optional<std::int64_t> of_short(std::uint32_t word) {
  if ((word & 3) != 1) return std::nullopt;
  switch (word >> 13) {
    case 5:  // C.J
      return extended(bits(word, 12, 1, 11) | bits(word, 11, 1, 4) | bits(word, 9, 2, 8) |
                          bits(word, 8, 1, 10) | bits(word, 7, 1, 6) | bits(word, 6, 1, 7) |
                          bits(word, 3, 3, 1) | bits(word, 2, 1, 5),
                      12);
    case 6:  // C.BEQZ
    case 7:  // C.BNEZ
      return extended(bits(word, 12, 1, 8) | bits(word, 10, 2, 3) | bits(word, 5, 2, 6) |
                          bits(word, 3, 2, 1) | bits(word, 2, 1, 5),
                      9);
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> of_long(std::uint32_t word) {
  switch (word & 0x7f) {
    case 0x6f:  // JAL
      return extended(bits(word, 31, 1, 20) | bits(word, 21, 10, 1) | bits(word, 20, 1, 11) |
                          bits(word, 12, 8, 12),
                      21);
    case 0x63:  // BEQ and the like
      return extended(
          bits(word, 31, 1, 12) | bits(word, 25, 6, 5) | bits(word, 8, 4, 1) | bits(word, 7, 1, 11),
          13);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::int64_t> riscv_displacement(Bytes code) {
  std::uint32_t word = 0;
  for (std::size_t i = code.size(); i-- > 0;)
    word = word << 8 | std::to_integer<std::uint8_t>(code[i]);
  if (code.size() == 2) return of_short(word);
  return code.size() == 4 ? of_long(word) : std::nullopt;
}

void name_riscv_target(Bytes code, Instruction& instruction) {
  const auto displacement = riscv_displacement(code);
  if (!displacement) return;
  instruction.target = instruction.address + static_cast<std::uint64_t>(*displacement);
  const std::size_t operand = instruction.text.find_last_of(" ,");
  if (operand == std::string::npos) return;
  instruction.text.replace(operand + 1, std::string::npos, target_text(*instruction.target));
}

}  // namespace ringside::annotation
