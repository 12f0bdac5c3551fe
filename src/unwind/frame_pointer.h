#pragma once

#include "arch/arch_info.h"
#include "unwind/code_stepper.h"

namespace ringside::unwind {

// The rule of code that keeps a frame pointer: where the caller's pc and frame pointer lie, by the
// platform's convention. On aarch64 the frame record lies anywhere in its frame, so that the
// caller's stack pointer stays unknown.
[[nodiscard]] Rule frame_pointer_rule(const arch::ArchInfo& platform);

// Follows frame pointers alone.
class FramePointerStepper final : public CodeStepper {
 public:
  [[nodiscard]] CodeRule rule_at(const elf::Image& image, GuestVirt at) override;
  [[nodiscard]] Step step(const elf::Image* image, const CodeRule& rule, const MachineState& state,
                          const MachineState& as_is, const StackMemory& memory) override;
  void forget() override {}
};

}  // namespace ringside::unwind
