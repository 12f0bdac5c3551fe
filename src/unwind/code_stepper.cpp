#include "unwind/code_stepper.h"

#include "unwind/frame_pointer.h"
#include "unwind/x86/code_stepper.h"

namespace ringside::unwind {

std::unique_ptr<CodeStepper> make_code_stepper(Arch arch, const elf::ImageMap& images) {
  if (arch == Arch::kX86_64 || arch == Arch::kI386)
    return std::make_unique<x86::CodeStepper>(images, *find_platform(arch));
  return std::make_unique<FramePointerStepper>();
}

}  // namespace ringside::unwind
