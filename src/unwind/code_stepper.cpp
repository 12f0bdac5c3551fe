#include "unwind/code_stepper.h"

#include "arch/arch_info.h"
#include "unwind/aarch64/decoder.h"
#include "unwind/frame_pointer.h"
#include "unwind/link_register/code_stepper.h"
#include "unwind/riscv64/decoder.h"
#include "unwind/x86/code_stepper.h"

namespace ringside::unwind {

std::unique_ptr<CodeStepper> make_code_stepper(Arch arch, const elf::ImageMap& images) {
  if (arch == Arch::kX86_64 || arch == Arch::kI386)
    return std::make_unique<x86::CodeStepper>(images, *arch::find_info(arch));
  if (arch == Arch::kAArch64)
    return std::make_unique<link_register::CodeStepper>(images,
                                                        std::make_unique<aarch64::Decoder>());
  if (arch == Arch::kRiscv64)
    return std::make_unique<link_register::CodeStepper>(images,
                                                        std::make_unique<riscv64::Decoder>());
  return std::make_unique<FramePointerStepper>();
}

}  // namespace ringside::unwind
