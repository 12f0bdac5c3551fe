#include "unwind/x86/translation.h"

#include <algorithm>

namespace ringside::unwind::x86 {

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
#if CS_API_MAJOR >= 5  // earlier ones call all of them SYSRET and SYSEXIT
    case X86_INS_SYSRETQ:
    case X86_INS_SYSEXITQ:
#endif
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

}  // namespace ringside::unwind::x86
