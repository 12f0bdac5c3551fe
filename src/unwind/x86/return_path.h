#pragma once

#include <optional>

#include "arch/arch_info.h"
#include "unwind/stack_memory.h"
#include "unwind/x86/interrupt_frame.h"
#include "unwind/x86/path_search.h"

namespace ringside::unwind::x86 {

// How the code that a frame is in will leave it. Registers that are not known are not valid.
struct ReturnPath {
  enum class Kind : std::uint8_t {
    kReturn,     // `state` is the caller's
    kInterrupt,  // `state` is that of the interrupted code, `frame` what iretq pops
    kSystem,     // sysret, sysexit: to user code; `miss` if the stack with its registers ends
                 // before them
    kMissing,    // leads to memory that was not copied: `miss`
  };
  Kind kind = Kind::kReturn;
  MachineState state = {};
  InterruptFrame frame = {};
  std::optional<Miss> miss = std::nullopt;
  bool stack_switched = false;
};

// Finds a frame's caller by doing what its code is about to do: instructions are followed from the
// pc on, with the capture's registers and memory, to the `ret`, `iretq` or `sysret` that ends them
// (path_search.h). So epilogues, assembly without frames, and entry stubs with their stack switches
// (`pop %rsp`) give the exact caller with all registers that they restore, without guessing.
class ReturnPathFinder {
 public:
  ReturnPathFinder(const elf::ImageMap& images, const arch::ArchInfo& platform, CodeReader& code)
      : images_(images), platform_(platform), roles_(platform.roles), code_(code) {}

  // The first path that ends well; else kMissing if one led out of the copied memory; else nothing.
  // `image` holds the pc.
  [[nodiscard]] std::optional<ReturnPath> find(const elf::Image& image, const MachineState& state,
                                               const StackMemory& memory);

 private:
  // Nothing where it does not end well.
  [[nodiscard]] std::optional<ReturnPath> finish(const Instruction& instruction, const Path& path,
                                                 Execution& execution, const StackMemory& memory);
  [[nodiscard]] ReturnPath finish_system_call(ReturnPath result) const;
  void forget_unknowns(MachineState& state) const;
  [[nodiscard]] std::optional<ReturnPath> finish_interrupt(ReturnPath result, const Path& path,
                                                           Execution& execution,
                                                           const StackMemory& memory);

  const elf::ImageMap& images_;
  const arch::ArchInfo& platform_;
  const arch::RegisterRoles& roles_;
  CodeReader& code_;
};

}  // namespace ringside::unwind::x86
