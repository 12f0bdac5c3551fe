#include "unwind/x86_64/decoder.h"

#include <capstone/capstone.h>

#include "wire/registers.h"

namespace ringside::unwind::x86_64 {
namespace {

using namespace wire::x86_64;

std::uint8_t dwarf_register(unsigned reg) {
  switch (reg) {
#define RINGSIDE_LEGACY(number, letter, low) \
  case X86_REG_R##letter:                    \
  case X86_REG_E##letter:                    \
  case X86_REG_##letter:                     \
  case X86_REG_##low:                        \
    return number;
    RINGSIDE_LEGACY(kRax, AX, AL)
    RINGSIDE_LEGACY(kRdx, DX, DL)
    RINGSIDE_LEGACY(kRcx, CX, CL)
    RINGSIDE_LEGACY(kRbx, BX, BL)
    RINGSIDE_LEGACY(kRsi, SI, SIL)
    RINGSIDE_LEGACY(kRdi, DI, DIL)
    RINGSIDE_LEGACY(kRbp, BP, BPL)
    RINGSIDE_LEGACY(kRsp, SP, SPL)
#undef RINGSIDE_LEGACY
#define RINGSIDE_NUMBERED(n) \
  case X86_REG_R##n:         \
  case X86_REG_R##n##D:      \
  case X86_REG_R##n##W:      \
  case X86_REG_R##n##B:      \
    return kR##n;
    RINGSIDE_NUMBERED(8)
    RINGSIDE_NUMBERED(9)
    RINGSIDE_NUMBERED(10)
    RINGSIDE_NUMBERED(11)
    RINGSIDE_NUMBERED(12)
    RINGSIDE_NUMBERED(13)
    RINGSIDE_NUMBERED(14)
    RINGSIDE_NUMBERED(15)
#undef RINGSIDE_NUMBERED
    case X86_REG_AH:
      return kRax;
    case X86_REG_BH:
      return kRbx;
    case X86_REG_CH:
      return kRcx;
    case X86_REG_DH:
      return kRdx;
    default:
      return kNoRegister;
  }
}

bool is_64_bit_register(const cs_x86_op& operand) {
  return operand.type == X86_OP_REG && operand.size == 8 &&
         dwarf_register(operand.reg) != kNoRegister;
}

// rip-relative operands count from the instruction's end; here they count from its start.
std::uint8_t base_register(const cs_x86_op& operand) {
  return operand.mem.base == X86_REG_RIP ? static_cast<std::uint8_t>(kRip)
                                         : dwarf_register(operand.mem.base);
}

std::int64_t displacement(const cs_x86_op& operand, const Instruction& instruction) {
  return operand.mem.base == X86_REG_RIP ? operand.mem.disp + instruction.size : operand.mem.disp;
}

// [base + displacement], without index and segment.
bool is_plain_memory(const cs_x86_op& operand) {
  return operand.type == X86_OP_MEM && operand.size == 8 &&
         operand.mem.segment == X86_REG_INVALID && operand.mem.index == X86_REG_INVALID &&
         base_register(operand) != kNoRegister;
}

std::optional<ImageAddr> immediate_target(const cs_x86& x86) {
  if (x86.op_count != 1 || x86.operands[0].type != X86_OP_IMM) return std::nullopt;
  return ImageAddr{static_cast<std::uint64_t>(x86.operands[0].imm)};
}

void translate_move(const cs_x86& x86, Instruction& result) {
  if (x86.op_count != 2) return;
  const cs_x86_op& to = x86.operands[0];
  const cs_x86_op& from = x86.operands[1];
  if (is_64_bit_register(to)) {
    result.a = dwarf_register(to.reg);
    if (is_64_bit_register(from)) {
      result.operation = Operation::kMove;
      result.b = dwarf_register(from.reg);
    } else if (is_plain_memory(from)) {
      result.operation = Operation::kLoad;
      result.b = base_register(from);
      result.value = displacement(from, result);
    }
  } else if (is_plain_memory(to)) {
    result.operation = Operation::kStore;
    result.a = is_64_bit_register(from) ? dwarf_register(from.reg) : kNoRegister;
    result.b = base_register(to);
    result.value = displacement(to, result);
  }
}

void translate_arithmetic(const cs_insn& instruction, const cs_x86& x86, Instruction& result) {
  if (x86.op_count != 2) return;
  const cs_x86_op& to = x86.operands[0];
  const cs_x86_op& from = x86.operands[1];
  const bool add = instruction.id == X86_INS_ADD;
  if ((add || instruction.id == X86_INS_SUB) && is_64_bit_register(to) && from.type == X86_OP_IMM) {
    result.operation = Operation::kAdd;
    result.a = dwarf_register(to.reg);
    result.value =
        add ? from.imm : static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(from.imm));
  } else if (instruction.id == X86_INS_LEA && is_64_bit_register(to) &&
             from.mem.index == X86_REG_INVALID && base_register(from) != kNoRegister) {
    result.operation = Operation::kLea;
    result.a = dwarf_register(to.reg);
    result.b = base_register(from);
    result.value = displacement(from, result);
  } else if (instruction.id == X86_INS_XOR && to.type == X86_OP_REG && from.type == X86_OP_REG &&
             to.reg == from.reg && to.size >= 4 && dwarf_register(to.reg) != kNoRegister) {
    result.operation = Operation::kZero;
    result.a = dwarf_register(to.reg);
  }
}

void translate(const cs_insn& instruction, Instruction& result) {
  const cs_x86& x86 = instruction.detail->x86;
  const auto first_register = [&]() -> std::uint8_t {
    return x86.op_count == 1 && is_64_bit_register(x86.operands[0])
               ? dwarf_register(x86.operands[0].reg)
               : kNoRegister;
  };
  switch (instruction.id) {
    case X86_INS_PUSH:
      result.a = first_register();
      [[fallthrough]];
    case X86_INS_PUSHFQ:
      // The 16-bit form exists, and nobody uses it in 64-bit code.
      result.operation = Operation::kPush;
      return;
    case X86_INS_POP:
      result.a = first_register();
      [[fallthrough]];
    case X86_INS_POPFQ:
      result.operation = Operation::kPop;
      return;
    case X86_INS_MOV:
      return translate_move(x86, result);
    case X86_INS_ADD:
    case X86_INS_SUB:
    case X86_INS_LEA:
    case X86_INS_XOR:
      return translate_arithmetic(instruction, x86, result);
    case X86_INS_LEAVE:
      result.operation = Operation::kLeave;
      return;
    case X86_INS_RET:
      result.operation = Operation::kRet;
      if (x86.op_count == 1) result.value = x86.operands[0].imm;
      return;
    case X86_INS_IRET:
    case X86_INS_IRETD:
    case X86_INS_IRETQ:
      result.operation = Operation::kInterruptRet;
      return;
    case X86_INS_SYSRET:
    case X86_INS_SYSEXIT:
      result.operation = Operation::kSystemRet;
      return;
    case X86_INS_JMP:
    case X86_INS_LJMP:
      result.target = immediate_target(x86);
      result.operation = result.target ? Operation::kJump : Operation::kJumpIndirect;
      return;
    case X86_INS_CALL:
      result.target = immediate_target(x86);
      result.operation = Operation::kCall;
      return;
    case X86_INS_UD0:
    case X86_INS_UD2:
      result.operation = Operation::kTrap;
      return;
    case X86_INS_INT3:
      result.operation = Operation::kStop;
      return;
    default:
      break;
  }
  for (std::uint8_t i = 0; i < instruction.detail->groups_count; ++i) {
    if (instruction.detail->groups[i] != CS_GRP_JUMP) continue;
    result.target = immediate_target(x86);  // jcc, jrcxz, loop
    result.operation = result.target ? Operation::kBranch : Operation::kJumpIndirect;
  }
}

std::uint32_t written(csh handle, const cs_insn& instruction) {
  cs_regs reads;
  cs_regs writes;
  std::uint8_t read_count = 0;
  std::uint8_t write_count = 0;
  if (cs_regs_access(handle, &instruction, reads, &read_count, writes, &write_count) != CS_ERR_OK)
    return 0;
  std::uint32_t mask = 0;
  for (std::uint8_t i = 0; i < write_count; ++i)
    if (const std::uint8_t reg = dwarf_register(writes[i]); reg != kNoRegister) mask |= 1u << reg;
  return mask;
}

}  // namespace

Decoder::Decoder() {
  csh handle = 0;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) return;
  cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  handle_ = handle;
  instruction_ = cs_malloc(handle);
}

Decoder::~Decoder() {
  if (handle_ == 0) return;
  cs_free(static_cast<cs_insn*>(instruction_), 1);
  csh handle = handle_;
  cs_close(&handle);
}

Instruction Decoder::decode(Bytes bytes, ImageAddr address) {
  Instruction result{.operation = Operation::kStop};
  const auto* code = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t size = bytes.size();
  std::uint64_t at = address.value;
  auto* instruction = static_cast<cs_insn*>(instruction_);
  if (handle_ == 0 || !cs_disasm_iter(handle_, &code, &size, &at, instruction)) return result;
  result.operation = Operation::kOther;
  result.size = static_cast<std::uint8_t>(instruction->size);
  translate(*instruction, result);
  result.writes = written(handle_, *instruction);
  return result;
}

}  // namespace ringside::unwind::x86_64
