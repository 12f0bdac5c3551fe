#pragma once

#include <memory>
#include <unordered_map>

#include "unwind/code_stepper.h"
#include "unwind/code_unit.h"
#include "unwind/link_register/return_path.h"

namespace ringside::unwind::link_register {

// Steps through code that no table describes, on architectures that call through a link register.
// Code that runs or was interrupted (a leaf need not have a frame, and a prologue not yet) is
// followed to its `ret`; entry code, also behind a call, to its `eret` or `sret`; code behind a
// call has a frame record, which the frame pointer leads to. Where the exit path is not known, as
// in a switch of threads, code that has changed nothing yet has its caller in the link register.
class CodeStepper final : public unwind::CodeStepper {
 public:
  CodeStepper(const elf::ImageMap& images, std::unique_ptr<Decoder> decoder)
      : images_(images), decoder_(std::move(decoder)), paths_(images, *decoder_) {}

  [[nodiscard]] CodeRule rule_at(const elf::Image& image, GuestVirt at) override;
  [[nodiscard]] Step step(const elf::Image* image, const CodeRule& rule, const MachineState& state,
                          const MachineState& as_is, const StackMemory& memory) override;
  [[nodiscard]] bool follows_call(const elf::Image& image, ImageAddr pc) override;
  [[nodiscard]] std::optional<ImageAddr> function_start(const elf::Image& image,
                                                        ImageAddr at) override;
  [[nodiscard]] bool may_be_called(const elf::Image& image, ImageAddr function) override;
  [[nodiscard]] bool never_returns(const elf::Image& image, GuestVirt pc) override;
  void forget() override;

 private:
  // Properties of a function that a scan of all its instructions finds.
  struct Function {
    bool returns_from_interrupt = false;
    std::vector<ImageAddr> tail_jumps = {};
  };
  struct ImageCode {
    CodeUnits units;
    std::unordered_map<std::uint64_t, Function> functions = {};  // by start
  };
  [[nodiscard]] ImageCode& code_of(const elf::Image& image);
  [[nodiscard]] const Function* function_at(const elf::Image& image, ImageAddr at);
  [[nodiscard]] Function scan(const elf::ElfFile& file, const CodeUnit& unit) const;
  [[nodiscard]] bool may_be_entered_by_hardware(const elf::Image& image, const Function& function,
                                                int depth);
  // Whether `state`, which has its pc from a system register, may be what an exception interrupted:
  // a nested one, or another task, may have set the register since. Then the function at the pc is
  // not the one that the link register's call leads to.
  [[nodiscard]] bool may_be_interrupted(const MachineState& state);
  [[nodiscard]] bool may_lead_to(const elf::Image& image, ImageAddr function, ImageAddr target,
                                 int depth);
  // Whether it is behind a call, or a function's first byte, where code has written it.
  [[nodiscard]] bool is_return_address(GuestVirt at);
  [[nodiscard]] std::optional<MachineState> caller_in_link_register(const elf::Image& image,
                                                                    const MachineState& state);

  const elf::ImageMap& images_;
  std::unique_ptr<Decoder> decoder_;
  ReturnPathFinder paths_;
  std::unordered_map<std::uint32_t, std::unique_ptr<ImageCode>> images_code_;  // by image id
};

}  // namespace ringside::unwind::link_register
