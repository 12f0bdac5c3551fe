#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "arch/arch_info.h"
#include "unwind/code_stepper.h"
#include "unwind/code_unit.h"
#include "unwind/x86/called_functions.h"
#include "unwind/x86/exit_rule.h"
#include "unwind/x86/frame_analysis.h"
#include "unwind/x86/return_path.h"

namespace ringside::unwind::x86 {

// Steps through x86_64 and i386 code that has no call-frame information, by its instructions. The
// order: the exit path of entry code to its iret; the rule from the function's flow; without
// symbols the same where the function is called; the exit path to a `ret`; an interrupt frame found
// by its looks; a bare frame pointer.
class CodeStepper final : public unwind::CodeStepper {
 public:
  CodeStepper(const elf::ImageMap& images, const arch::ArchInfo& platform)
      : images_(images),
        platform_(platform),
        decoder_(platform),
        reader_(decoder_),
        paths_(images, platform, reader_),
        exits_(platform, reader_) {}

  [[nodiscard]] CodeRule rule_at(const elf::Image& image, GuestVirt at) override;
  [[nodiscard]] CompactRule exit_rule_at(const elf::Image& image, const CodeRule& rule,
                                         GuestVirt pc) override;
  [[nodiscard]] Step step(const elf::Image* image, const CodeRule& rule, const MachineState& state,
                          const MachineState& as_is, const StackMemory& memory) override;
  [[nodiscard]] WayToUser way_to_user(const elf::Image& image, const MachineState& state,
                                      const StackMemory& memory) override;
  [[nodiscard]] bool follows_call(const elf::Image& image, ImageAddr pc) override;
  [[nodiscard]] std::optional<ImageAddr> function_start(const elf::Image& image,
                                                        ImageAddr at) override;
  [[nodiscard]] bool may_be_called(const elf::Image& image, ImageAddr function) override;
  [[nodiscard]] bool returns_from_interrupt(const elf::Image& image, ImageAddr at) override;
  [[nodiscard]] bool never_returns(const elf::Image& image, GuestVirt pc) override;
  void forget() override;

 private:
  struct Function {
    CodeUnit unit;
    FrameAnalysis analysis;
  };
  struct ImageCode {
    CodeUnits units;
    bool keeps_frame_pointers = true;
    std::unordered_map<std::uint64_t, std::unique_ptr<Function>> functions = {};  // by start
    std::unique_ptr<CalledFunctions> called = {};  // where there are no symbols
  };
  // Where the bytes of an iret are in an image, in order.
  [[nodiscard]] const std::vector<ImageAddr>& irets_of(const elf::Image& image);
  [[nodiscard]] ImageCode& code_of(const elf::Image& image);
  [[nodiscard]] const Function* function_at(const elf::Image& image, ImageAddr at);
  [[nodiscard]] bool may_be_entered_by_hardware(const elf::Image& image, const Function& function,
                                                int depth);
  [[nodiscard]] std::optional<Step> exit_path(const elf::Image& image, const CodeRule& rule,
                                              const MachineState& state, const StackMemory& memory,
                                              bool interrupts_only);
  // The same of code without symbols, up to where a frame pointer of zero ends the stack.
  [[nodiscard]] std::optional<Step> nameless(const elf::Image& image, const CodeRule& rule,
                                             const MachineState& state, const MachineState& as_is,
                                             const StackMemory& memory);
  // By what code calls: `own` returns behind a call to the very function, `other` behind another
  // one, since functions are called through pointers and are jumped to. `by_frame`: `own` is by the
  // frame pointer, in code that hardware may enter.
  struct ByCalls {
    std::optional<Step> own = {};
    std::optional<Step> other = {};
    bool by_frame = false;
  };
  [[nodiscard]] ByCalls by_calls(const elf::Image& image, const MachineState& state,
                                 const StackMemory& memory);
  [[nodiscard]] bool is_same(GuestVirt a, GuestVirt b) const;
  [[nodiscard]] std::optional<Step> by_pattern(const MachineState& state,
                                               const StackMemory& memory);
  [[nodiscard]] Step by_bare_frame_pointer(const MachineState& state, const StackMemory& memory,
                                           FrameSource source);

  const elf::ImageMap& images_;
  const arch::ArchInfo& platform_;
  Decoder decoder_;
  CodeReader reader_;
  ReturnPathFinder paths_;
  ExitRuleFinder exits_;
  std::unordered_map<std::uint32_t, std::unique_ptr<ImageCode>> images_code_;  // by image id
  std::unordered_map<std::uint32_t, std::vector<ImageAddr>> irets_;            // the same
};

}  // namespace ringside::unwind::x86
