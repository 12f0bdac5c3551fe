#pragma once

#include "unwind/link_register/instruction.h"

namespace ringside::unwind::riscv64 {

// RV64GC (RISC-V Instruction Set Manual, volume I, 20191213, chapters 2, 5, 9, 16 and 24; volume II
// for the control and status registers).
class Decoder final : public link_register::Decoder {
 public:
  [[nodiscard]] link_register::Instruction decode(Bytes bytes, ImageAddr address) const override;
};

}  // namespace ringside::unwind::riscv64
