#include "unwind/aarch64/decoder.h"

#include "arch/registers.h"
#include "base/little_endian.h"

namespace ringside::unwind::aarch64 {

using link_register::Instruction;
using link_register::kNoRegister;
using link_register::kZeroRegister;
using link_register::Operation;
using namespace arch::aarch64;

namespace {

// One 32-bit word and its fields.
class Word {
 public:
  Word(std::uint32_t word, ImageAddr address) : word_(word), address_(address) {}

  [[nodiscard]] bool is(std::uint32_t mask, std::uint32_t value) const {
    return (word_ & mask) == value;
  }
  [[nodiscard]] std::uint32_t bits(unsigned high, unsigned low) const {
    return word_ >> low & ((2u << (high - low)) - 1);
  }
  [[nodiscard]] std::int64_t signed_bits(unsigned high, unsigned low) const {
    const unsigned width = high - low + 1;
    return static_cast<std::int64_t>(std::uint64_t{bits(high, low)} << (64 - width)) >>
           (64 - width);
  }
  [[nodiscard]] bool bit(unsigned n) const { return bits(n, n) != 0; }
  // Register 31 is the stack pointer in some places, zero in others.
  [[nodiscard]] std::uint8_t reg_or_sp(unsigned low) const {
    return static_cast<std::uint8_t>(bits(low + 4, low));
  }
  [[nodiscard]] std::uint8_t source(unsigned low) const {
    const std::uint8_t reg = reg_or_sp(low);
    return reg == kSp ? kZeroRegister : reg;
  }
  [[nodiscard]] std::uint8_t destination(unsigned low) const {
    const std::uint8_t reg = reg_or_sp(low);
    return reg == kSp ? kNoRegister : reg;
  }

  [[nodiscard]] Instruction decode() const;

 private:
  [[nodiscard]] Instruction writing(std::uint8_t reg) const {
    return {.writes = reg == kNoRegister ? 0 : 1u << reg};
  }
  [[nodiscard]] Instruction to(Operation operation, std::int64_t words) const {
    return {.operation = operation,
            .target = address_ + static_cast<std::uint64_t>(words * 4),
            .writes = operation == Operation::kCall ? 1u << kLr : 0};
  }
  [[nodiscard]] Instruction branch() const;
  [[nodiscard]] Instruction branch_to_register() const;
  [[nodiscard]] Instruction exception() const;
  [[nodiscard]] Instruction system() const;
  [[nodiscard]] Instruction immediate() const;
  [[nodiscard]] Instruction registers() const;
  [[nodiscard]] Instruction load_store() const;
  [[nodiscard]] Instruction pair() const;
  [[nodiscard]] Instruction single() const;
  [[nodiscard]] Instruction access(std::int64_t offset, std::int64_t step) const;

  std::uint32_t word_;
  ImageAddr address_;
};

Instruction Word::branch() const {
  if (is(0x7c000000, 0x14000000))
    return to(bit(31) ? Operation::kCall : Operation::kJump, signed_bits(25, 0));
  if (is(0xff000000, 0x54000000)) {
    const bool always = bits(3, 1) == 7;
    return to(always ? Operation::kJump : Operation::kBranch, signed_bits(23, 5));
  }
  if (is(0x7e000000, 0x34000000)) return to(Operation::kBranch, signed_bits(23, 5));
  if (is(0x7e000000, 0x36000000)) return to(Operation::kBranch, signed_bits(18, 5));
  if (is(0xfe000000, 0xd6000000)) return branch_to_register();
  if (is(0xff000000, 0xd4000000)) return exception();
  if (is(0xff000000, 0xd5000000)) return system();
  return {};
}

// C4.1.65, "Unconditional branch (register)".
Instruction Word::branch_to_register() const {
  switch (bits(24, 21)) {
    case 0:
    case 8:  // with a pointer authentication code
      return {.operation = Operation::kJumpIndirect, .b = reg_or_sp(5)};
    case 1:
    case 9:
      return {.operation = Operation::kCall, .writes = 1u << kLr};
    case 2: {  // ret; retaa and retab, which have no register
      const std::uint8_t to = reg_or_sp(5) == kSp ? static_cast<std::uint8_t>(kLr) : reg_or_sp(5);
      return {.operation = Operation::kRet, .b = to};
    }
    case 4:
      return {.operation = Operation::kInterruptRet};
    default:
      return {.operation = Operation::kStop};
  }
}

Instruction Word::exception() const {
  // SMC calling convention (DEN 0028): x0 to x17 may be changed.
  if (bits(23, 21) == 0) return {.writes = 0x3ffff};
  return {.operation = bits(23, 21) == 1 ? Operation::kTrap : Operation::kStop};
}

Instruction Word::system() const {
  const bool is_read = is(0xfff00000, 0xd5300000);
  if (!is_read && !is(0xfff00000, 0xd5100000)) return {};
  Instruction instruction{.operation = Operation::kSystem};
  switch (bits(19, 5)) {  // op0, op1, CRn, CRm, op2: D19.1; op1 is 0 for EL1, 4 for EL2, 6 for EL3
    case 0x4200:
    case 0x6200:
    case 0x7200:
      instruction.system = kSpsrEl1;
      break;
    case 0x4201:
    case 0x6201:
    case 0x7201:
      instruction.system = kElrEl1;
      break;
    case 0x4208:
      instruction.system = kSpEl0;
      break;
    default:
      break;
  }
  (is_read ? instruction.a : instruction.b) = is_read ? destination(0) : source(0);
  if (is_read) instruction.writes = writing(destination(0)).writes;
  return instruction;
}

Instruction Word::immediate() const {
  const bool is_64_bit = bit(31);
  if (is(0x1f800000, 0x11000000)) {  // add, sub
    const bool sets_flags = bit(29);
    const std::uint8_t to = sets_flags ? destination(0) : reg_or_sp(0);
    if (!is_64_bit || to == kNoRegister) return writing(to);
    const std::int64_t value = std::int64_t{bits(21, 10)} << (bit(22) ? 12 : 0);
    return {.operation = Operation::kAdd,
            .a = to,
            .b = reg_or_sp(5),
            .value = bit(30) ? -value : value,
            .writes = 1u << to};
  }
  if (is(0x1f000000, 0x10000000)) {  // adr, adrp
    const std::uint8_t to = destination(0);
    if (to == kNoRegister) return {};
    const std::int64_t offset = signed_bits(23, 5) * 4 + bits(30, 29);
    const std::uint64_t base = bit(31) ? address_.value & ~std::uint64_t{0xfff} : address_.value;
    return {.operation = Operation::kSet,
            .a = to,
            .value = static_cast<std::int64_t>(base) + (bit(31) ? offset * 4096 : offset),
            .writes = 1u << to};
  }
  if (is(0x1f800000, 0x12000000))  // logical; all but ands may write sp
    return writing(bits(30, 29) == 3 ? destination(0) : reg_or_sp(0));
  const std::uint8_t to = destination(0);
  const bool moves = is(0x1f800000, 0x12800000) && (bits(30, 29) == 0 || bits(30, 29) == 2);
  if (!moves || to == kNoRegister) return writing(to);
  std::uint64_t value = std::uint64_t{bits(20, 5)} << (16 * bits(22, 21));
  if (bits(30, 29) == 0) value = ~value;
  if (!is_64_bit) value &= 0xffffffff;
  return {.operation = Operation::kSet,
          .a = to,
          .value = static_cast<std::int64_t>(value),
          .writes = 1u << to};
}

Instruction Word::registers() const {
  if (is(0xffe0ffe0, 0xaa0003e0) && destination(0) != kNoRegister)  // mov
    return {.operation = Operation::kAdd,
            .a = destination(0),
            .b = source(16),
            .writes = 1u << destination(0)};
  const bool no_flags_64_bit = bit(31) && !bit(29);
  const Operation operation = bit(30) ? Operation::kSubtractRegisters : Operation::kAddRegisters;
  if (is(0x1fe00000, 0x0b200000)) {  // add, sub (extended register)
    const std::uint8_t to = bit(29) ? destination(0) : reg_or_sp(0);
    if (!no_flags_64_bit || bits(15, 10) != 0x18) return writing(to);  // uxtx #0
    return {
        .operation = operation, .a = to, .b = reg_or_sp(5), .c = source(16), .writes = 1u << to};
  }
  const std::uint8_t to = destination(0);
  if (is(0x1f200000, 0x0b000000) && no_flags_64_bit && bits(15, 10) == 0 && to != kNoRegister)
    return {.operation = operation, .a = to, .b = source(5), .c = source(16), .writes = 1u << to};
  if (is(0x1fe00000, 0x1a400000)) return {};  // ccmp, ccmn
  return writing(to);
}

// A load or store of one 64-bit general register, or only its writeback.
Instruction Word::access(std::int64_t offset, std::int64_t step) const {
  const bool vector = bit(26);
  const unsigned opcode = bits(23, 22);
  const bool is_64_bit = bits(31, 30) == 3;
  const std::uint8_t base = reg_or_sp(5);
  Instruction instruction{.operation = Operation::kStore, .b = base, .value = offset, .step = step};
  if (vector || (is_64_bit && opcode >= 2)) return instruction;  // prfm
  if (opcode != 0) {
    instruction.operation = Operation::kLoad;
    instruction.a = destination(0);
    instruction.writes = writing(destination(0)).writes;
    // A narrow load's value is not known: no register is loaded, `writes` is.
    if (!is_64_bit) instruction.a = kNoRegister;
  } else if (is_64_bit) {
    instruction.a = source(0);
  }
  return instruction;
}

Instruction Word::pair() const {
  const bool vector = bit(26);
  const unsigned opcode = bits(31, 30);
  const unsigned shift = vector ? 2 + opcode : (opcode == 2 ? 3 : 2);
  const bool is_tag_store = !vector && opcode == 1 && !bit(22);  // stgp: 16 bytes
  const std::int64_t offset = signed_bits(21, 15) * (std::int64_t{1} << (is_tag_store ? 4 : shift));
  const unsigned mode = bits(24, 23);  // 1 post-index, 3 pre-index
  Instruction instruction{.operation = bit(22) ? Operation::kLoad : Operation::kStore,
                          .b = reg_or_sp(5),
                          .value = mode == 1 ? 0 : offset,
                          .step = mode == 1 || mode == 3 ? offset : 0};
  if (vector || is_tag_store) return instruction;
  if (bit(22))
    instruction.writes = writing(destination(0)).writes | writing(destination(10)).writes;
  if (opcode != 2) return instruction;
  instruction.a = bit(22) ? destination(0) : source(0);
  instruction.c = bit(22) ? destination(10) : source(10);
  return instruction;
}

Instruction Word::single() const {
  if (is(0x3b000000, 0x39000000)) {
    const unsigned scale = bits(31, 30) | (bit(26) ? bits(23, 23) << 2 : 0);
    return access(std::int64_t{bits(21, 10)} << scale, 0);
  }
  if (!bit(21)) {
    const std::int64_t offset = signed_bits(20, 12);
    switch (bits(11, 10)) {
      case 1:
        return access(0, offset);
      case 3:
        return access(offset, offset);
      default:
        return access(offset, 0);
    }
  }
  Instruction instruction = writing(bit(26) ? kNoRegister : destination(0));
  if (bits(11, 10) == 2 && bits(23, 22) == 0) instruction.writes = 0;  // str (register offset)
  if (bits(11, 10) == 3 && !bit(26)) instruction.writes |= 1u << reg_or_sp(5);  // ldraa, pre-index
  return instruction;
}

Instruction Word::load_store() const {
  if (is(0x3a000000, 0x28000000)) return pair();
  if (is(0x3a000000, 0x38000000)) return single();
  if (is(0x3b000000, 0x18000000)) return writing(bit(26) ? kNoRegister : destination(0));
  if (is(0x3f000000, 0x08000000)) {                       // exclusive, ordered, compare and swap
    const bool swaps = bit(21) && (bit(23) || !bit(31));  // cas, casp
    Instruction instruction;
    if (bit(22)) instruction.writes |= writing(destination(0)).writes;
    if (bit(22) && bit(21)) instruction.writes |= writing(destination(10)).writes;
    if (swaps || (!bit(22) && !bit(23))) instruction.writes |= writing(destination(16)).writes;
    return instruction;
  }
  if (is(0xbe800000, 0x0c800000)) return writing(reg_or_sp(5));  // ld1 and its kin, post-index
  return {};
}

// C4.1, table C4-1.
Instruction Word::decode() const {
  switch (bits(28, 25)) {
    case 0b1000:
    case 0b1001:
      return immediate();
    case 0b1010:
    case 0b1011:
      return branch();
    case 0b0100:
    case 0b0110:
    case 0b1100:
    case 0b1110:
      return load_store();
    case 0b0101:
    case 0b1101:
      return registers();
    case 0b0000:
      if (bits(31, 16) == 0) return {.operation = Operation::kStop};  // udf
      return {};
    default:
      return {};
  }
}

}  // namespace

Instruction Decoder::decode(Bytes bytes, ImageAddr address) const {
  if (bytes.size() < sizeof(std::uint32_t)) return {.operation = Operation::kStop};
  return Word(load<std::uint32_t>(bytes), address).decode();
}

}  // namespace ringside::unwind::aarch64
