#pragma once

#include <capstone/capstone.h>

#include "arch/arch_info.h"
#include "unwind/x86/decoder.h"
#include "unwind/x86/register_number.h"

namespace ringside::unwind::x86 {

// One instruction of capstone's as one of ours; the registers that it writes are left out.
class Translation {
 public:
  Translation(const cs_insn& instruction, const arch::ArchInfo& platform, Instruction& result)
      : instruction_(instruction),
        x86_(instruction.detail->x86),
        platform_(platform),
        roles_(platform.roles),
        result_(result) {}

  void run();

 private:
  [[nodiscard]] std::uint8_t number(unsigned reg) const {
    return register_number(platform_.id, reg);
  }
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
                      (operand.mem.segment == X86_REG_INVALID || platform_.id == Arch::kI386);
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
  const arch::ArchInfo& platform_;
  const arch::RegisterRoles& roles_;
  Instruction& result_;
};

}  // namespace ringside::unwind::x86
