#pragma once

#include "unwind/link_register/instruction.h"

namespace ringside::unwind::aarch64 {

// A64 (Arm Architecture Reference Manual for A-profile, DDI 0487, C4.1). Pointer authentication is
// passed over: codes are taken off where an address is used.
class Decoder final : public link_register::Decoder {
 public:
  [[nodiscard]] link_register::Instruction decode(Bytes bytes, ImageAddr address) const override;
};

}  // namespace ringside::unwind::aarch64
