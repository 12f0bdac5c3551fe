#include "unwind/x86/decoder.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <array>

namespace ringside::unwind::x86 {
namespace {

std::uint8_t x86_64_register(unsigned reg) {
  using namespace wire::x86_64;
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

// DWARF numbers the same registers otherwise on i386.
std::uint8_t i386_register(unsigned reg) {
  using namespace wire::i386;
  constexpr std::array<std::uint8_t, 8> kNumbers = {kEax, kEdx, kEcx, kEbx, kEsi, kEdi, kEbp, kEsp};
  const std::uint8_t number = x86_64_register(reg);
  return number < kNumbers.size() ? kNumbers[number] : kNoRegister;
}

// One instruction of capstone's as one of ours.
class Translation {
 public:
  Translation(const cs_insn& instruction, const Platform& platform, Instruction& result)
      : instruction_(instruction),
        x86_(instruction.detail->x86),
        roles_(platform.roles),
        is_64_bit_(platform.arch == Arch::kX86_64),
        result_(result) {}

  void run();

  [[nodiscard]] std::uint8_t number(unsigned reg) const {
    return is_64_bit_ ? x86_64_register(reg) : i386_register(reg);
  }

 private:
  [[nodiscard]] bool is_word_register(const cs_x86_op& operand) const {
    return operand.type == X86_OP_REG && operand.size == roles_.pointer_size &&
           number(operand.reg) != kNoRegister;
  }
  // pc-relative operands count from the instruction's end; here they count from its start.
  [[nodiscard]] std::uint8_t base_register(const cs_x86_op& operand) const {
    return operand.mem.base == X86_REG_RIP ? roles_.pc : number(operand.mem.base);
  }
  [[nodiscard]] std::int64_t displacement(const cs_x86_op& operand) const {
    return operand.mem.base == X86_REG_RIP ? operand.mem.disp + result_.size : operand.mem.disp;
  }
  // [base + displacement], without index, in a segment that starts at 0.
  [[nodiscard]] bool is_flat_memory(const cs_x86_op& operand) const {
    if (operand.type != X86_OP_MEM) return false;  // `mem` is a member of a union
    const bool flat = operand.mem.segment != X86_REG_FS && operand.mem.segment != X86_REG_GS &&
                      (operand.mem.segment == X86_REG_INVALID || !is_64_bit_);
    return flat && operand.mem.index == X86_REG_INVALID && base_register(operand) != kNoRegister;
  }
  [[nodiscard]] bool is_word_memory(const cs_x86_op& operand) const {
    return is_flat_memory(operand) && operand.size == roles_.pointer_size;
  }
  [[nodiscard]] Operand operand(const cs_x86_op& from) const;
  [[nodiscard]] std::uint8_t only_register() const {
    return x86_.op_count == 1 && is_word_register(x86_.operands[0]) ? number(x86_.operands[0].reg)
                                                                    : kNoRegister;
  }
  [[nodiscard]] std::optional<ImageAddr> immediate_target() const {
    if (x86_.op_count != 1 || x86_.operands[0].type != X86_OP_IMM) return std::nullopt;
    return ImageAddr{static_cast<std::uint64_t>(x86_.operands[0].imm)};
  }
  void move();
  void add_or_lea();
  void arithmetic(Alu alu);
  void exchange();
  void copy_words();
  void stack();
  void flow();
  void jump();
  void conditional();

  const cs_insn& instruction_;
  const cs_x86& x86_;
  const wire::RegisterRoles& roles_;
  bool is_64_bit_;
  Instruction& result_;
};

Operand Translation::operand(const cs_x86_op& from) const {
  Operand result{.size = from.size};
  if (from.type == X86_OP_IMM) {
    result.kind = Operand::Kind::kImmediate;
    result.value = from.imm;
  } else if (is_word_register(from)) {
    result.kind = Operand::Kind::kRegister;
    result.reg = number(from.reg);
  } else if (is_flat_memory(from)) {
    result.kind = Operand::Kind::kMemory;
    result.reg = base_register(from);
    result.value = displacement(from);
  }
  return result;
}

void Translation::move() {
  if (x86_.op_count != 2) return;
  const cs_x86_op& to = x86_.operands[0];
  const cs_x86_op& from = x86_.operands[1];
  if (is_word_register(to)) {
    result_.a = number(to.reg);
    if (is_word_register(from)) {
      result_.operation = Operation::kMove;
      result_.b = number(from.reg);
    } else if (is_word_memory(from)) {
      result_.operation = Operation::kLoad;
      result_.b = base_register(from);
      result_.value = displacement(from);
    } else if (from.type == X86_OP_IMM) {
      result_.operation = Operation::kSet;
      result_.value = from.imm;
    }
  } else if (is_word_memory(to)) {
    result_.operation = Operation::kStore;
    result_.from = operand(from);
    result_.a = is_word_register(from) ? number(from.reg) : kNoRegister;
    result_.b = base_register(to);
    result_.value = displacement(to);
  }
}

void Translation::add_or_lea() {
  if (x86_.op_count != 2) return;
  const cs_x86_op& to = x86_.operands[0];
  const cs_x86_op& from = x86_.operands[1];
  const bool add = instruction_.id == X86_INS_ADD;
  if ((add || instruction_.id == X86_INS_SUB) && is_word_register(to) && from.type == X86_OP_IMM) {
    result_.operation = Operation::kAdd;
    result_.a = number(to.reg);
    result_.value =
        add ? from.imm : static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(from.imm));
  } else if (instruction_.id == X86_INS_LEA) {
    if (!is_word_register(to) || from.mem.index != X86_REG_INVALID ||
        base_register(from) == kNoRegister)
      return;
    result_.operation = Operation::kLea;
    result_.a = number(to.reg);
    result_.b = base_register(from);
    result_.value = displacement(from);
  } else {
    arithmetic(add ? Alu::kAdd : Alu::kSubtract);
  }
}

void Translation::arithmetic(Alu alu) {
  if (x86_.op_count != 2) return;
  const cs_x86_op& to = x86_.operands[0];
  const cs_x86_op& from = x86_.operands[1];
  if (alu == Alu::kXor && to.type == X86_OP_REG && from.type == X86_OP_REG && to.reg == from.reg &&
      to.size >= 4 && number(to.reg) != kNoRegister) {
    result_.operation = Operation::kZero;
    result_.a = number(to.reg);
    return;
  }
  result_.to = operand(to);
  result_.from = operand(from);
  result_.alu = alu;
  if (result_.to.kind != Operand::Kind::kNone && result_.from.kind != Operand::Kind::kNone)
    result_.operation = Operation::kArithmetic;
}

void Translation::exchange() {
  if (x86_.op_count != 2 || !is_word_register(x86_.operands[0]) ||
      !is_word_register(x86_.operands[1]))
    return;
  result_.operation = Operation::kExchange;
  result_.a = number(x86_.operands[0].reg);
  result_.b = number(x86_.operands[1].reg);
}

// SSE has a movsd too, without a memory operand on both sides.
void Translation::copy_words() {
  if (x86_.op_count == 2 && x86_.prefix[0] == X86_PREFIX_REP &&
      x86_.operands[0].type == X86_OP_MEM && x86_.operands[1].type == X86_OP_MEM &&
      x86_.operands[0].size == roles_.pointer_size)
    result_.operation = Operation::kCopyWords;
}

void Translation::stack() {
  result_.a = only_register();
  switch (instruction_.id) {
    case X86_INS_PUSH:
      result_.from = x86_.op_count == 1 ? operand(x86_.operands[0]) : Operand{};
      [[fallthrough]];
    case X86_INS_PUSHF:
    case X86_INS_PUSHFD:
    case X86_INS_PUSHFQ:
      // The 16-bit forms exist, and nobody uses them.
      result_.operation = Operation::kPush;
      return;
    case X86_INS_PUSHAL:
      result_.operation = Operation::kPushAll;
      return;
    case X86_INS_POPAL:
      result_.operation = Operation::kPopAll;
      return;
    default:
      result_.operation = Operation::kPop;
  }
}

void Translation::jump() {
  result_.target = immediate_target();
  result_.operation = result_.target ? Operation::kJump : Operation::kJumpIndirect;
}

void Translation::conditional() {
  const auto& groups = instruction_.detail->groups;
  if (std::find(groups, groups + instruction_.detail->groups_count, CS_GRP_JUMP) ==
      groups + instruction_.detail->groups_count)
    return;
  result_.target = immediate_target();  // jcc, jrcxz, loop
  result_.operation = result_.target ? Operation::kBranch : Operation::kJumpIndirect;
  switch (instruction_.id) {
    case X86_INS_JE:
      result_.condition = Condition::kZero;
      return;
    case X86_INS_JNE:
      result_.condition = Condition::kNotZero;
      return;
    case X86_INS_JB:
      result_.condition = Condition::kCarry;
      return;
    case X86_INS_JAE:
      result_.condition = Condition::kNotCarry;
      return;
    default:
      return;
  }
}

void Translation::run() {
  result_.writes_flags = x86_.eflags != 0;
  switch (instruction_.id) {
    case X86_INS_PUSH:
    case X86_INS_PUSHF:
    case X86_INS_PUSHFD:
    case X86_INS_PUSHFQ:
    case X86_INS_PUSHAL:
    case X86_INS_POP:
    case X86_INS_POPF:
    case X86_INS_POPFD:
    case X86_INS_POPFQ:
    case X86_INS_POPAL:
      return stack();
    case X86_INS_MOV:
      return move();
    case X86_INS_ADD:
    case X86_INS_SUB:
    case X86_INS_LEA:
      return add_or_lea();
    case X86_INS_XOR:
      return arithmetic(Alu::kXor);
    case X86_INS_AND:
      return arithmetic(Alu::kAnd);
    case X86_INS_OR:
      return arithmetic(Alu::kOr);
    case X86_INS_CMP:
      return arithmetic(Alu::kCompare);
    case X86_INS_TEST:
      return arithmetic(Alu::kTest);
    case X86_INS_SHR:
      return arithmetic(Alu::kShiftRight);
    case X86_INS_XCHG:
      return exchange();
    case X86_INS_MOVSD:
    case X86_INS_MOVSQ:
      return copy_words();
    default:
      return flow();
  }
}

void Translation::flow() {
  switch (instruction_.id) {
    case X86_INS_LEAVE:
      result_.operation = Operation::kLeave;
      return;
    case X86_INS_RET:
      result_.operation = Operation::kRet;
      if (x86_.op_count == 1) result_.value = x86_.operands[0].imm;
      return;
    case X86_INS_IRET:
    case X86_INS_IRETD:
    case X86_INS_IRETQ:
      result_.operation = Operation::kInterruptRet;
      return;
    case X86_INS_SYSRET:
    case X86_INS_SYSEXIT:
      result_.operation = Operation::kSystemRet;
      return;
    case X86_INS_JMP:
    case X86_INS_LJMP:
      return jump();
    case X86_INS_CALL:
      result_.target = immediate_target();
      result_.operation = Operation::kCall;
      return;
    case X86_INS_UD0:
    case X86_INS_UD2:
      result_.operation = Operation::kTrap;
      return;
    case X86_INS_INT3:
      result_.operation = Operation::kStop;
      return;
    default:
      return conditional();
  }
}

std::uint32_t written(csh handle, const cs_insn& instruction, const Translation& translation) {
  cs_regs reads;
  cs_regs writes;
  std::uint8_t read_count = 0;
  std::uint8_t write_count = 0;
  if (cs_regs_access(handle, &instruction, reads, &read_count, writes, &write_count) != CS_ERR_OK)
    return 0;
  std::uint32_t mask = 0;
  for (std::uint8_t i = 0; i < write_count; ++i)
    if (const std::uint8_t reg = translation.number(writes[i]); reg != kNoRegister)
      mask |= 1u << reg;
  return mask;
}

}  // namespace

Decoder::Decoder(const Platform& platform) : platform_(platform) {
  csh handle = 0;
  const cs_mode mode = platform.arch == Arch::kX86_64 ? CS_MODE_64 : CS_MODE_32;
  if (cs_open(CS_ARCH_X86, mode, &handle) != CS_ERR_OK) return;
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
  Translation translation(*instruction, platform_, result);
  translation.run();
  result.writes = written(handle_, *instruction, translation);
  return result;
}

}  // namespace ringside::unwind::x86
