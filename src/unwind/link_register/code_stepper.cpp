#include "unwind/link_register/code_stepper.h"

#include <algorithm>

#include "arch/arch_info.h"
#include "unwind/frame_pointer.h"
#include "unwind/link_register/call_site.h"
#include "unwind/link_register/untouched.h"

namespace ringside::unwind::link_register {
namespace {

constexpr int kMaxTailJumps = 4;
constexpr std::size_t kMaxTailTargets = 64;

Step by_frame_pointer(const MachineState& state, const StackMemory& memory, FrameSource source) {
  const arch::RegisterRoles& roles = state.platform->roles;
  if (!state.has(roles.fp)) return Stop{StopReason::kLostRegister, state.pc()};
  const std::uint64_t fp = state.get(roles.fp);
  if (fp == 0 && !state.exact) return Stop{StopReason::kEndOfStack, state.pc()};
  if (fp % roles.pointer_size != 0) return Stop{StopReason::kNoRule, state.pc()};
  Rule rule = frame_pointer_rule(*state.platform);
  rule.source = source;
  return apply(rule, {}, state, memory);
}

std::optional<Step> along(const std::optional<ReturnPath>& path, const MachineState& state) {
  if (!path) return std::nullopt;
  const std::uint8_t sp = state.platform->roles.sp;
  switch (path->kind) {
    case ReturnPath::Kind::kUser:
      return Stop{StopReason::kUserMode, state.pc()};
    case ReturnPath::Kind::kMissing:
      return Stop{path->miss->reason, path->miss->address, path->miss->link};
    case ReturnPath::Kind::kInterrupt:
      return Caller{.state = path->state,
                    .source = FrameSource::kInterruptFrame,
                    .interrupted = true,
                    .stack_switched = true};
    case ReturnPath::Kind::kReturn:
      return Caller{.state = path->state,
                    .source = FrameSource::kInstructions,
                    .stack_switched = path->state.slots[sp] != state.slots[sp]};
  }
  return std::nullopt;
}

}  // namespace

void CodeStepper::forget() {
  images_code_.clear();
  paths_.forget();
}

CodeStepper::Function CodeStepper::scan(const elf::ElfFile& file, const CodeUnit& unit) const {
  Function function;
  for (const CodeRange& range : unit.ranges) {
    const Bytes bytes = file.bytes_at(range.start, range.size);
    for (std::size_t at = 0; at < bytes.size();) {
      const Instruction instruction = decoder_->decode(bytes.subspan(at), range.start + at);
      at += instruction.size;
      if (instruction.operation == Operation::kInterruptRet) function.returns_from_interrupt = true;
      if (instruction.operation == Operation::kJump && !unit.contains(*instruction.target) &&
          function.tail_jumps.size() < kMaxTailTargets)
        function.tail_jumps.push_back(*instruction.target);
    }
  }
  return function;
}

CodeStepper::ImageCode& CodeStepper::code_of(const elf::Image& image) {
  auto& code = images_code_[image.id];
  if (!code) code = std::make_unique<ImageCode>(ImageCode{CodeUnits(*image.file)});
  return *code;
}

bool CodeStepper::follows_call(const elf::Image& image, ImageAddr pc) {
  return link_register::follows_call(*image.file, pc, *decoder_);
}

std::optional<ImageAddr> CodeStepper::function_start(const elf::Image& image, ImageAddr at) {
  const auto unit = code_of(image).units.find(at);
  return unit ? std::optional(unit->start()) : std::nullopt;
}

bool CodeStepper::may_be_called(const elf::Image& image, ImageAddr function) {
  return has_direct_call(*image.file, function, *decoder_);
}

bool CodeStepper::never_returns(const elf::Image&, GuestVirt pc) {
  return paths_.never_returns(pc);
}

const CodeStepper::Function* CodeStepper::function_at(const elf::Image& image, ImageAddr at) {
  ImageCode& code = code_of(image);
  const auto unit = code.units.find(at);
  if (!unit) return nullptr;
  const auto [found, added] = code.functions.try_emplace(unit->start().value);
  if (added) found->second = scan(*image.file, *unit);
  return &found->second;
}

bool CodeStepper::may_be_entered_by_hardware(const elf::Image& image, const Function& function,
                                             int depth) {
  if (function.returns_from_interrupt) return true;
  if (depth == kMaxTailJumps) return false;
  const std::vector<ImageAddr> targets = function.tail_jumps;
  for (const ImageAddr target : targets) {
    const Function* next = function_at(image, target);
    if (next != nullptr && may_be_entered_by_hardware(image, *next, depth + 1)) return true;
  }
  return false;
}

bool CodeStepper::may_lead_to(const elf::Image& image, ImageAddr function, ImageAddr target,
                              int depth) {
  if (function == target) return true;
  const Function* code = depth == kMaxTailJumps ? nullptr : function_at(image, function);
  if (code == nullptr) return false;
  const std::vector<ImageAddr> targets = code->tail_jumps;
  return std::any_of(targets.begin(), targets.end(),
                     [&](ImageAddr next) { return may_lead_to(image, next, target, depth + 1); });
}

bool CodeStepper::may_be_interrupted(const MachineState& state) {
  const std::uint8_t link = state.platform->roles.link;
  const elf::Image* image = images_.find_code(state.pc());
  const auto unit =
      image == nullptr ? std::nullopt : code_of(*image).units.find(image->to_image(state.pc()));
  if (!unit) return false;
  if (!state.has(link)) return true;
  const GuestVirt back{state.platform->code_address(state.get(link))};
  const elf::Image* caller = images_.find_code(back - 1);
  if (caller == nullptr || unit->contains(image->to_image(back - 1))) return true;
  const auto call = call_before(*caller->file, caller->to_image(back), *decoder_);
  if (!call || !call->target) return true;
  return caller == image && may_lead_to(*image, *call->target, unit->start(), 0);
}

bool CodeStepper::is_return_address(GuestVirt at) {
  const elf::Image* image = images_.find_code(at - 1);
  if (image != nullptr && follows_call(*image, image->to_image(at))) return true;
  image = images_.find_code(at);
  return image != nullptr && function_start(*image, image->to_image(at)) == image->to_image(at);
}

std::optional<MachineState> CodeStepper::caller_in_link_register(const elf::Image& image,
                                                                 const MachineState& state) {
  const auto unit = code_of(image).units.find(image.to_image(state.pc()));
  if (!unit) return std::nullopt;
  const auto caller = untouched_caller(state, image, *unit, *decoder_);
  if (!caller || !is_return_address(caller->pc())) return std::nullopt;
  return caller;
}

CodeRule CodeStepper::rule_at(const elf::Image& image, GuestVirt at) {
  const Function* function = function_at(image, image.to_image(at));
  if (function == nullptr) return {};
  return {.rule = std::nullopt, .interrupt_code = may_be_entered_by_hardware(image, *function, 0)};
}

Step CodeStepper::step(const elf::Image* image, const CodeRule& rule, const MachineState& state,
                       const MachineState&, const StackMemory& memory) {
  if (image != nullptr && (state.exact || rule.interrupt_code)) {
    const auto path = paths_.find(state, memory);
    if ((!path || path->kind == ReturnPath::Kind::kMissing) && !rule.interrupt_code)
      if (const auto caller = caller_in_link_register(*image, state))
        return Caller{.state = *caller, .source = FrameSource::kInstructions};
    const bool by_register = path && path->kind == ReturnPath::Kind::kInterrupt &&
                             path->state.slots[state.platform->roles.pc].value == 0;
    if (by_register && !state.exact && !may_be_interrupted(path->state))
      return Stop{StopReason::kLostRegister, state.pc()};
    if (auto step = along(path, state)) return *step;
  }
  // Where the code that runs is not known it may be a leaf, whose caller is in the link register.
  return by_frame_pointer(state, memory,
                          state.exact ? FrameSource::kGuess : FrameSource::kFramePointer);
}

}  // namespace ringside::unwind::link_register
