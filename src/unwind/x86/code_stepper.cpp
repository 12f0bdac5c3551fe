#include "unwind/x86/code_stepper.h"

#include <algorithm>
#include <string_view>

#include "arch/arch_info.h"
#include "unwind/frame_pointer.h"
#include "unwind/x86/call_site.h"
#include "unwind/x86/frame_pointer_use.h"
#include "unwind/x86/interrupt_frame.h"
#include "unwind/x86/no_return.h"

namespace ringside::unwind::x86 {

namespace {

constexpr int kMaxTailJumps = 4;

// Where the stack pointer was when the function was entered, by its rule: at the return address.
std::optional<GuestVirt> entry_sp(const Rule& rule, const MachineState& state) {
  if (rule.cfa.kind != CfaRule::Kind::kRegisterOffset || !state.has(rule.cfa.reg))
    return std::nullopt;
  const std::uint64_t cfa = state.get(rule.cfa.reg) + static_cast<std::uint64_t>(rule.cfa.offset);
  return GuestVirt{cfa - state.platform->roles.pointer_size};
}

Caller user_code(const ReturnPath& path) {
  return {.state = path.state,
          .source = FrameSource::kInterruptFrame,
          .interrupted = true,
          .stack_switched = true,
          .is_user = true,
          .by_system_call = path.kind == ReturnPath::Kind::kSystem};
}

Caller interrupted_code(const InterruptFrame& frame, const MachineState& state,
                        FrameSource source) {
  Caller caller{.state = state, .source = source, .interrupted = true, .stack_switched = true};
  const arch::RegisterRoles& roles = state.platform->roles;
  caller.state.set(roles.pc, frame.ip, frame.address);
  caller.state.set(roles.sp, frame.sp, frame.sp_slot);
  caller.state.exact = true;
  return caller;
}

}  // namespace

void CodeStepper::forget() {
  images_code_.clear();
  irets_.clear();
  reader_.forget();
}

bool CodeStepper::follows_call(const elf::Image& image, ImageAddr pc) {
  return x86::follows_call(*image.file, pc);
}

std::optional<ImageAddr> CodeStepper::function_start(const elf::Image& image, ImageAddr at) {
  const auto unit = code_of(image).units.find(at);
  return unit ? std::optional(unit->start()) : std::nullopt;
}

bool CodeStepper::may_be_called(const elf::Image& image, ImageAddr function) {
  return has_direct_call(*image.file, function);
}

bool CodeStepper::never_returns(const elf::Image& image, GuestVirt pc) {
  return x86::never_returns(image, reader_, pc);
}

const std::vector<ImageAddr>& CodeStepper::irets_of(const elf::Image& image) {
  constexpr char kRexW = '\x48';
  constexpr char kIret = '\xcf';
  const auto [found, is_new] = irets_.try_emplace(image.id);
  std::vector<ImageAddr>& irets = found->second;
  if (!is_new) return irets;
  const elf::ElfFile& file = *image.file;
  for (const elf::CodeRange& range : file.code()) {
    const std::string_view code(reinterpret_cast<const char*>(range.bytes.data()),
                                range.bytes.size());
    for (std::size_t i = code.find(kIret, 1); i != code.npos; i = code.find(kIret, i + 1))
      if (!file.is_64() || code[i - 1] == kRexW) irets.push_back(range.address + i);
  }
  std::sort(irets.begin(), irets.end());
  return irets;
}

// Few images have the bytes of an iret, and few of their functions, so that the others need not be
// analysed.
bool CodeStepper::returns_from_interrupt(const elf::Image& image, ImageAddr at) {
  const std::vector<ImageAddr>& irets = irets_of(image);
  if (irets.empty()) return false;
  const auto unit = code_of(image).units.find(at);
  if (!unit) return false;
  const auto has_iret = [&](const CodeRange& range) {
    const auto first = std::lower_bound(irets.begin(), irets.end(), range.start);
    return first != irets.end() && range.contains(*first);
  };
  if (std::none_of(unit->ranges.begin(), unit->ranges.end(), has_iret)) return false;
  const Function* function = function_at(image, at);
  return function != nullptr && function->analysis.returns_from_interrupt();
}

CodeStepper::ImageCode& CodeStepper::code_of(const elf::Image& image) {
  auto& code = images_code_[image.id];
  if (code) return *code;
  const elf::ElfFile& file = *image.file;
  code = std::make_unique<ImageCode>(ImageCode{CodeUnits(file), keeps_frame_pointers(file)});
  if (!file.symbols().empty()) return *code;
  code->called = std::make_unique<CalledFunctions>(file, platform_, decoder_);
  code->keeps_frame_pointers = keeps_frame_pointers(file, code->called->starts());
  return *code;
}

const CodeStepper::Function* CodeStepper::function_at(const elf::Image& image, ImageAddr at) {
  ImageCode& code = code_of(image);
  const auto unit = code.units.find(at);
  if (!unit) return nullptr;
  auto& function = code.functions[unit->start().value];
  if (!function)
    function = std::make_unique<Function>(
        Function{*unit, FrameAnalysis(*image.file, *unit, platform_, decoder_)});
  return function.get();
}

bool CodeStepper::may_be_entered_by_hardware(const elf::Image& image, const Function& function,
                                             int depth) {
  if (function.analysis.returns_from_interrupt()) return true;
  if (function.analysis.makes_frame() || depth == kMaxTailJumps) return false;
  for (const ImageAddr target : function.analysis.tail_jumps()) {
    const Function* next = function_at(image, target);
    if (next != nullptr && next != &function && may_be_entered_by_hardware(image, *next, depth + 1))
      return true;
  }
  return false;
}

CodeRule CodeStepper::rule_at(const elf::Image& image, GuestVirt at) {
  const ImageAddr address = image.to_image(at);
  const Function* function = function_at(image, address);
  if (function == nullptr) return {};
  const auto state = function->analysis.at(address);
  auto rule = state ? rule_of(*state, platform_) : std::nullopt;
  if (rule) rule->ends_at_zero_fp = code_of(image).keeps_frame_pointers;
  return {.rule = rule, .interrupt_code = may_be_entered_by_hardware(image, *function, 0)};
}

CompactRule CodeStepper::exit_rule_at(const elf::Image& image, const CodeRule& rule, GuestVirt pc) {
  using Kind = CompactRule::Kind;
  CompactRule exit = exits_.find(image, pc);
  // Where there are no symbols, a call to the function decides before that.
  const ImageCode& code = code_of(image);
  exit.ends_at_zero_fp = code.keeps_frame_pointers && !code.called;
  // In the order of step().
  if (exit.kind == Kind::kCall && !code.called)
    return rule.rule ? compact(*rule.rule, platform_) : exit;
  bool decides = rule.interrupt_code;
  if (exit.kind == Kind::kFrame && rule.rule) {
    // Where the frame lies below the function's entry, the function may have made it itself.
    const std::int64_t frame = std::int64_t{exit.cfa_offset} + exit.pc_offset;
    decides &= exit.base == CompactRule::Base::kStackPointer &&
               rule.rule->cfa.kind == CfaRule::Kind::kRegisterOffset &&
               rule.rule->cfa.reg == platform_.roles.sp &&
               frame >= rule.rule->cfa.offset - platform_.roles.pointer_size;
  }
  if (decides) return exit;
  return {.kind = Kind::kSlow,
          .source = FrameSource::kInstructions,
          .ends_at_zero_fp = exit.ends_at_zero_fp};
}

Step CodeStepper::step(const elf::Image* image, const CodeRule& rule, const MachineState& state,
                       const MachineState& as_is, const StackMemory& memory) {
  if (image == nullptr) return by_bare_frame_pointer(state, memory, FrameSource::kGuess);
  if (rule.interrupt_code)
    if (const auto step = exit_path(*image, rule, as_is, memory, true)) return *step;

  const std::uint8_t fp = platform_.roles.fp;
  const bool no_frame_below = state.has(fp) && state.get(fp) == 0;
  if (rule.rule) {
    const bool by_frame = rule.rule->source == FrameSource::kFramePointer;
    const bool ends = by_frame || (!state.exact && rule.rule->ends_at_zero_fp);
    if (no_frame_below && ends) return Stop{StopReason::kEndOfStack, state.pc()};
    const Step step = apply(*rule.rule, {}, state, memory);
    const auto* caller = std::get_if<Caller>(&step);
    if (caller != nullptr && caller->is_user) return step;
    if (caller == nullptr) {
      // switch_to between the change of the stack pointer and that of the frame pointer, which
      // is another thread's.
      if (by_frame && state.exact)
        if (const auto out = exit_path(*image, rule, as_is, memory, false)) return *out;
      return step;
    }
    const GuestVirt pc = caller->state.pc();
    if (pc.value == 0 || images_.find_code(pc - 1) != nullptr) return step;
    // Not a return address: hardware may have entered here, in code that never returns.
    if (const auto found = by_pattern(state, memory)) return *found;
    // The first function of a thread has neither a caller nor, while it has not called anything, a
    // return address to say so.
    if (no_frame_below) return Stop{StopReason::kEndOfStack, state.pc()};
    return step;
  }
  if (code_of(*image).called)
    if (const auto step = nameless(*image, rule, state, as_is, memory)) return *step;
  const bool keeps_frame_pointers = code_of(*image).keeps_frame_pointers;
  if (no_frame_below && !state.exact && keeps_frame_pointers)
    return Stop{StopReason::kEndOfStack, state.pc()};
  if (const auto step = exit_path(*image, rule, as_is, memory, false)) return *step;
  if (state.exact || !state.has(fp))
    if (const auto step = by_pattern(state, memory)) return *step;
  if (no_frame_below && !keeps_frame_pointers) return Stop{StopReason::kNoRule, state.pc()};
  return by_bare_frame_pointer(state, memory,
                               state.exact ? FrameSource::kGuess : FrameSource::kFramePointer);
}

std::optional<Step> CodeStepper::exit_path(const elf::Image& image, const CodeRule& rule,
                                           const MachineState& state, const StackMemory& memory,
                                           bool interrupts_only) {
  auto path = paths_.find(image, state, memory);
  if (!path) return std::nullopt;
  switch (path->kind) {
    case ReturnPath::Kind::kSystem:
      return user_code(*path);
    case ReturnPath::Kind::kMissing:
      return Stop{path->miss->reason, path->miss->address, path->miss->link};
    case ReturnPath::Kind::kReturn:
      if (interrupts_only) return std::nullopt;
      return Caller{.state = path->state,
                    .source = FrameSource::kInstructions,
                    .interrupted = false,
                    .stack_switched = path->stack_switched};
    case ReturnPath::Kind::kInterrupt:
      break;
  }
  // A frame below the entry's stack pointer is one that the function made itself, to go to user
  // code with: then it has a caller like any other.
  const auto entry = rule.rule ? entry_sp(*rule.rule, state) : std::nullopt;
  const bool self_made =
      entry && memory.same_piece(*entry, path->frame.address) && path->frame.address < *entry;
  if (self_made) return std::nullopt;
  // The frame may have been copied to a stack that was not: only here it can be determined.
  if (path->frame.from_user()) return user_code(*path);
  return interrupted_code(path->frame, path->state, FrameSource::kInterruptFrame);
}

WayToUser CodeStepper::way_to_user(const elf::Image& image, const MachineState& state,
                                   const StackMemory& memory) {
  using Kind = ReturnPath::Kind;
  const auto path = paths_.find(image, state, memory);
  WayToUser way;
  if (!path) return way;
  // More bytes would not help where the rest is on another stack.
  way.truncated = path->miss && path->miss->reason == StopReason::kTruncated;
  if (path->kind == Kind::kSystem || (path->kind == Kind::kInterrupt && path->frame.from_user()))
    way.user = user_code(*path);
  return way;
}

std::optional<Step> CodeStepper::nameless(const elf::Image& image, const CodeRule& rule,
                                          const MachineState& state, const MachineState& as_is,
                                          const StackMemory& memory) {
  const auto [own, other, by_frame] = by_calls(image, state, memory);
  if (own && !by_frame) return own;
  // In code that hardware entered, the frame pointer leads past what was interrupted.
  if (auto step = exit_path(image, rule, as_is, memory, true))
    if (const auto* out = std::get_if<Caller>(&*step); out != nullptr && out->interrupted)
      return step;
  if (own) return own;
  // The outermost frame has no caller; any word above it may look like one.
  const std::uint8_t fp = platform_.roles.fp;
  const bool may_end =
      code_of(image).keeps_frame_pointers && !state.exact && state.has(fp) && state.get(fp) == 0;
  return may_end ? std::nullopt : other;
}

CodeStepper::ByCalls CodeStepper::by_calls(const elf::Image& image, const MachineState& state,
                                           const StackMemory& memory) {
  ByCalls found;
  bool is_nearest = true;
  const ImageAddr at = image.to_image(state.lookup_address());
  for (const CalledFunctions::Candidate& each : code_of(image).called->frames_at(at)) {
    const auto rule = rule_of(each.state, platform_);
    if (!rule) continue;
    Step step = apply(*rule, {}, state, memory);
    const auto* caller = std::get_if<Caller>(&step);
    const auto* stop = std::get_if<Stop>(&step);
    // More bytes may show that the nearest place is the right one.
    if (stop != nullptr && is_nearest &&
        (stop->reason == StopReason::kTruncated || stop->reason == StopReason::kNotCopied))
      found.other = step;
    is_nearest = false;
    const elf::Image* from = caller ? images_.find_code(caller->state.pc() - 1) : nullptr;
    if (from == nullptr) continue;
    const ImageAddr pc = from->to_image(caller->state.pc());
    const auto called = called_from(*from->file, pc);
    if (called && is_same(from->to_guest(*called), image.to_guest(each.start))) {
      found.by_frame = each.may_be_entry && rule->source == FrameSource::kFramePointer;
      found.own = std::move(step);
      return found;
    }
    if (!found.other && !each.is_swept && x86::follows_call(*from->file, pc))
      found.other = std::move(step);
  }
  return found;
}

bool CodeStepper::is_same(GuestVirt a, GuestVirt b) const {
  return (a.value & platform_.address_mask()) == (b.value & platform_.address_mask());
}

std::optional<Step> CodeStepper::by_pattern(const MachineState& state, const StackMemory& memory) {
  const auto frame = find_interrupt_frame(memory, state.sp(), platform_, images_);
  if (!frame) return std::nullopt;
  return interrupted_code(*frame, state, FrameSource::kGuess);
}

Step CodeStepper::by_bare_frame_pointer(const MachineState& state, const StackMemory& memory,
                                        FrameSource source) {
  const arch::RegisterRoles& roles = platform_.roles;
  if (!state.has(roles.fp)) return Stop{StopReason::kNoRule, state.pc()};
  const GuestVirt fp{state.get(roles.fp)};
  if (fp.value == 0 && !state.exact) return Stop{StopReason::kEndOfStack, state.pc()};
  if (fp.value % roles.pointer_size != 0 || memory.piece_at(fp) == nullptr)
    return Stop{StopReason::kNoRule, state.pc()};
  Rule rule = frame_pointer_rule(*state.platform);
  rule.source = source;
  return apply(rule, {}, state, memory);
}

}  // namespace ringside::unwind::x86
