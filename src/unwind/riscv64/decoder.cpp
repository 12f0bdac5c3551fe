#include "unwind/riscv64/decoder.h"

#include <initializer_list>

#include "arch/registers.h"
#include "base/little_endian.h"

namespace ringside::unwind::riscv64 {

using link_register::Instruction;
using link_register::kNoRegister;
using link_register::kZeroRegister;
using link_register::Operation;
using namespace arch::riscv64;

namespace {

std::uint32_t bits(std::uint32_t word, unsigned high, unsigned low) {
  return word >> low & ((2u << (high - low)) - 1);
}

std::int64_t sign_extended(std::uint64_t value, unsigned width) {
  return static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}

// An immediate whose bits are scattered: each part is a field of the word and where its lowest bit
// goes.
struct Part {
  unsigned high, low, to;
};
std::uint64_t gather(std::uint32_t word, std::initializer_list<Part> parts) {
  std::uint64_t value = 0;
  for (const Part& part : parts) value |= std::uint64_t{bits(word, part.high, part.low)} << part.to;
  return value;
}

std::uint8_t source(std::uint32_t reg) {
  return reg == 0 ? kZeroRegister : static_cast<std::uint8_t>(reg);
}
std::uint8_t destination(std::uint32_t reg) {
  return reg == 0 ? kNoRegister : static_cast<std::uint8_t>(reg);
}

Instruction writing(std::uint32_t reg) { return {.writes = reg == 0 ? 0 : 1u << reg}; }

Instruction set(std::uint32_t reg, std::int64_t value) {
  if (reg == 0) return {};
  return {.operation = Operation::kSet, .a = destination(reg), .value = value, .writes = 1u << reg};
}

Instruction add(std::uint32_t to, std::uint32_t from, std::int64_t value) {
  if (to == 0 || from == 0) return set(to, value);
  return {.operation = Operation::kAdd,
          .a = destination(to),
          .b = source(from),
          .value = value,
          .writes = 1u << to};
}

Instruction combine(Operation operation, std::uint32_t to, std::uint32_t x, std::uint32_t y) {
  if (to == 0) return {};
  return {.operation = operation,
          .a = destination(to),
          .b = source(x),
          .c = source(y),
          .writes = 1u << to};
}

Instruction load(std::uint32_t to, std::uint32_t base, std::int64_t offset) {
  return {.operation = Operation::kLoad,
          .a = destination(to),
          .b = source(base),
          .value = offset,
          .writes = writing(to).writes};
}

Instruction store(std::uint32_t from, std::uint32_t base, std::int64_t offset) {
  return {.operation = Operation::kStore, .a = source(from), .b = source(base), .value = offset};
}

Instruction to(Operation operation, ImageAddr address, std::int64_t offset) {
  return {.operation = operation, .target = address + static_cast<std::uint64_t>(offset)};
}

// Volume I, table 2.1: a jump through ra, or t0 for the helpers of -msave-restore, that keeps no
// link is a return.
Instruction jump_to_register(std::uint32_t link, std::uint32_t base, std::int64_t offset) {
  if (link != 0)
    return {
        .operation = Operation::kCall, .b = source(base), .value = offset, .writes = 1u << link};
  if ((base == kRa || base == kT0) && offset == 0)
    return {.operation = Operation::kRet, .b = source(base)};
  return {.operation = Operation::kJumpIndirect, .b = source(base), .value = offset};
}

// Volume II, tables 2.3 and 2.5. Machine mode has its own of each, under the same number here.
std::uint8_t system_register(std::uint32_t number) {
  switch (number) {
    case 0x100:
    case 0x300:
      return kSstatus;
    case 0x140:
    case 0x340:
      return kSscratch;
    case 0x141:
    case 0x341:
      return kSepc;
    default:
      return kNoRegister;
  }
}

Instruction system(std::uint32_t word) {
  const std::uint32_t function = bits(word, 14, 12);
  if (function == 0) {
    switch (word) {
      case 0x00000073:  // ecall: the SBI returns in a0 and a1
        return {.writes = 3u << kA0};
      case 0x00100073:
        return {.operation = Operation::kTrap};
      case 0x10200073:
      case 0x30200073:
        return {.operation = Operation::kInterruptRet};
      default:
        return {};
    }
  }
  const std::uint32_t to = bits(word, 11, 7);
  Instruction instruction{.operation = Operation::kSystem,
                          .a = destination(to),
                          .system = system_register(bits(word, 31, 20)),
                          .writes = writing(to).writes};
  if (function == 1) instruction.b = source(bits(word, 19, 15));  // csrrw; others change bits only
  return instruction;
}

Instruction decode_32(std::uint32_t word, ImageAddr address) {
  const std::uint32_t rd = bits(word, 11, 7);
  const std::uint32_t rs1 = bits(word, 19, 15);
  const std::uint32_t rs2 = bits(word, 24, 20);
  const std::uint32_t function = bits(word, 14, 12);
  const std::int64_t i_type = sign_extended(bits(word, 31, 20), 12);
  switch (bits(word, 6, 0)) {
    case 0x03:
      return function == 3 ? load(rd, rs1, i_type) : writing(rd);
    case 0x13:
      return function == 0 ? add(rd, rs1, i_type) : writing(rd);
    case 0x23:
      if (function != 3) return {};
      return store(rs2, rs1, sign_extended(gather(word, {{31, 25, 5}, {11, 7, 0}}), 12));
    case 0x33:
      if (bits(word, 31, 25) == 0 && function == 0)
        return combine(Operation::kAddRegisters, rd, rs1, rs2);
      if (bits(word, 31, 25) == 0x20 && function == 0)
        return combine(Operation::kSubtractRegisters, rd, rs1, rs2);
      return writing(rd);
    case 0x37:
      return set(rd, sign_extended(word & 0xfffff000, 32));
    case 0x17:
      return set(rd,
                 static_cast<std::int64_t>(address.value) + sign_extended(word & 0xfffff000, 32));
    case 0x1b:
    case 0x3b:
    case 0x2f:
      return writing(rd);
    case 0x57:  // vsetvli and its kin
      return function == 7 ? writing(rd) : Instruction{};
    case 0x63:
      return to(
          Operation::kBranch, address,
          sign_extended(gather(word, {{31, 31, 12}, {7, 7, 11}, {30, 25, 5}, {11, 8, 1}}), 13));
    case 0x67:
      return jump_to_register(rd, rs1, i_type);
    case 0x6f: {
      Instruction jump = to(
          rd == 0 ? Operation::kJump : Operation::kCall, address,
          sign_extended(gather(word, {{31, 31, 20}, {19, 12, 12}, {20, 20, 11}, {30, 21, 1}}), 21));
      jump.writes = writing(rd).writes;
      return jump;
    }
    case 0x73:
      return system(word);
    default:
      return {};
  }
}

// Volume I, tables 16.5 to 16.7.
Instruction quadrant_0(std::uint32_t word) {
  const std::uint32_t rd = 8 + bits(word, 4, 2);
  const std::uint32_t rs1 = 8 + bits(word, 9, 7);
  const auto offset = static_cast<std::int64_t>(gather(word, {{12, 10, 3}, {6, 5, 6}}));
  switch (bits(word, 15, 13)) {
    case 0: {
      const auto value =
          static_cast<std::int64_t>(gather(word, {{12, 11, 4}, {10, 7, 6}, {6, 6, 2}, {5, 5, 3}}));
      if (value == 0) return {.operation = Operation::kStop};
      return add(rd, kSp, value);
    }
    case 2:
      return writing(rd);
    case 3:
      return load(rd, rs1, offset);
    case 7:
      return store(rd, rs1, offset);
    default:
      return {};
  }
}

Instruction quadrant_1(std::uint32_t word, ImageAddr address) {
  const std::uint32_t rd = bits(word, 11, 7);
  const std::int64_t value = sign_extended(gather(word, {{12, 12, 5}, {6, 2, 0}}), 6);
  switch (bits(word, 15, 13)) {
    case 0:
      return add(rd, rd, value);
    case 1:
      return writing(rd);
    case 2:
      return set(rd, value);
    case 3:
      if (rd != kSp) return set(rd, value * 4096);
      return add(kSp, kSp,
                 sign_extended(
                     gather(word, {{12, 12, 9}, {6, 6, 4}, {5, 5, 6}, {4, 3, 7}, {2, 2, 5}}), 10));
    case 4:
      return writing(8 + bits(word, 9, 7));
    case 5:
      return to(Operation::kJump, address,
                sign_extended(gather(word, {{12, 12, 11},
                                            {11, 11, 4},
                                            {10, 9, 8},
                                            {8, 8, 10},
                                            {7, 7, 6},
                                            {6, 6, 7},
                                            {5, 3, 1},
                                            {2, 2, 5}}),
                              12));
    default:
      return to(Operation::kBranch, address,
                sign_extended(
                    gather(word, {{12, 12, 8}, {11, 10, 3}, {6, 5, 6}, {4, 3, 1}, {2, 2, 5}}), 9));
  }
}

Instruction quadrant_2(std::uint32_t word) {
  const std::uint32_t rd = bits(word, 11, 7);
  const std::uint32_t rs2 = bits(word, 6, 2);
  switch (bits(word, 15, 13)) {
    case 0:
    case 2:
      return writing(rd);
    case 3:
      return load(rd, kSp,
                  static_cast<std::int64_t>(gather(word, {{12, 12, 5}, {6, 5, 3}, {4, 2, 6}})));
    case 4:
      if (rs2 != 0)
        return bits(word, 12, 12) == 0 ? add(rd, rs2, 0)
                                       : combine(Operation::kAddRegisters, rd, rd, rs2);
      if (rd == 0) return {.operation = Operation::kTrap};
      return jump_to_register(bits(word, 12, 12), rd, 0);  // the link register is x1
    case 7:
      return store(rs2, kSp, static_cast<std::int64_t>(gather(word, {{12, 10, 3}, {9, 7, 6}})));
    default:
      return {};
  }
}

}  // namespace

Instruction Decoder::decode(Bytes bytes, ImageAddr address) const {
  if (bytes.size() < 2) return {.operation = Operation::kStop, .size = 2};
  auto word = static_cast<std::uint32_t>(load_unsigned(bytes, 0, bytes.size() < 4 ? 2 : 4));
  if ((word & 3) == 3) {
    if (bytes.size() < 4) return {.operation = Operation::kStop, .size = 2};
    return decode_32(word, address);
  }
  word &= 0xffff;
  Instruction instruction = (word & 3) == 0   ? quadrant_0(word)
                            : (word & 3) == 1 ? quadrant_1(word, address)
                                              : quadrant_2(word);
  instruction.size = 2;
  return instruction;
}

}  // namespace ringside::unwind::riscv64
