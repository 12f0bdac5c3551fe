#include "unwind/x86/frame_analysis.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "arch/arch_info.h"
#include "unwind/x86/padding.h"

namespace ringside::unwind::x86 {

using FramePointer = FrameState::FramePointer;

namespace {

constexpr std::size_t kMaxInstructions = 50'000;
constexpr std::size_t kMaxAssumed = 10'000;  // of what may be no function
constexpr std::size_t kMaxCallee = 256;      // of a called function
constexpr std::int64_t kMaxFrame = 1 << 20;

// The registers that FrameState::saved holds, by bit.
std::uint32_t saved_registers(const arch::RegisterRoles& roles) {
  return static_cast<std::uint32_t>(roles.callee_saved) & ~(1u << roles.fp);
}

// Where FrameState::saved has a register; nothing for those that it has not.
std::optional<std::size_t> saved_index(std::uint8_t reg, const arch::RegisterRoles& roles) {
  const std::uint32_t saved = saved_registers(roles);
  if (reg >= 32 || (saved >> reg & 1u) == 0) return std::nullopt;
  return static_cast<std::size_t>(std::popcount(saved & ((1u << reg) - 1)));
}

// How one instruction changes the frame.
class Transfer {
 public:
  Transfer(FrameState state, const arch::RegisterRoles& roles)
      : state_(state), roles_(roles), word_(roles.pointer_size) {}

  [[nodiscard]] FrameState run(const Instruction& instruction);
  // Subtracts the bytes that a called function has popped for its caller.
  [[nodiscard]] FrameState pop_arguments(std::int64_t size) {
    set_depth(std::int64_t{state_.depth} - size);
    return state_;
  }

 private:
  void set_depth(std::int64_t depth) {
    state_.depth = depth > -kMaxFrame && depth < kMaxFrame ? static_cast<std::int32_t>(depth)
                                                           : FrameState::kUnknownDepth;
  }
  void lose(std::uint32_t writes) {
    if ((writes >> roles_.sp & 1u) != 0) state_.depth = FrameState::kUnknownDepth;
    if ((writes >> roles_.fp & 1u) != 0) state_.fp = FramePointer::kOther;
    change(writes);
  }
  void change(std::uint32_t writes) {
    if (state_.cfa_register < 32 && (writes >> state_.cfa_register & 1u) != 0)
      state_.cfa_register = kNoRegister;
    for (std::uint8_t reg = 0; reg < roles_.pc; ++reg)
      if (const auto index = saved_index(reg, roles_); index && (writes >> reg & 1u) != 0)
        state_.changed |= static_cast<std::uint8_t>(1u << *index);
  }
  void load_saved(std::uint8_t reg, std::optional<std::int64_t> slot) {
    if (state_.realigned && slot && state_.cfa_slot != 0 && *slot == state_.cfa_slot)
      state_.cfa_register = reg;
    const auto index = saved_index(reg, roles_);
    if (!index) return;
    const auto bit = static_cast<std::uint8_t>(1u << *index);
    if (slot && state_.saved[*index] != 0 && *slot == state_.saved[*index])
      state_.changed &= static_cast<std::uint8_t>(~bit);
    else
      state_.changed |= bit;
  }
  void save(std::uint8_t reg, std::int64_t slot) {
    if (state_.realigned && reg == state_.cfa_register && reg != kNoRegister &&
        state_.cfa_slot == 0)
      state_.cfa_slot = static_cast<std::int32_t>(slot);
    const auto index = saved_index(reg, roles_);
    if (index && (state_.changed >> *index & 1u) == 0 && state_.saved[*index] == 0)
      state_.saved[*index] = static_cast<std::int32_t>(slot);
    if (reg == roles_.fp && state_.fp == FramePointer::kCaller && state_.saved_fp == 0)
      state_.saved_fp = static_cast<std::int32_t>(slot);
  }
  // CFA - (register + value), if that is known.
  [[nodiscard]] std::optional<std::int64_t> distance(std::uint8_t reg, std::int64_t value) const {
    if (reg == roles_.sp && state_.knows_depth()) return std::int64_t{state_.depth} - value;
    if (reg == roles_.fp && state_.fp == FramePointer::kFrame)
      return std::int64_t{state_.frame_offset} - value;
    if (reg == state_.cfa_register && reg != kNoRegister) return -value;
    return std::nullopt;
  }
  void assign(std::uint8_t reg, std::optional<std::int64_t> from_cfa);
  void load_fp(std::optional<std::int64_t> slot) {
    state_.fp = slot && state_.saved_fp != 0 && *slot == state_.saved_fp ? FramePointer::kCaller
                                                                         : FramePointer::kOther;
  }
  void push(std::uint8_t reg);
  void pop(std::uint8_t reg);

  FrameState state_;
  const arch::RegisterRoles& roles_;
  std::int64_t word_;
};

void Transfer::assign(std::uint8_t reg, std::optional<std::int64_t> from_cfa) {
  const bool known = from_cfa && *from_cfa > -kMaxFrame && *from_cfa < kMaxFrame;
  if (reg == roles_.sp) {
    state_.depth = known ? static_cast<std::int32_t>(*from_cfa) : FrameState::kUnknownDepth;
  } else if (reg == roles_.fp) {
    state_.fp = known ? FramePointer::kFrame : FramePointer::kOther;
    state_.frame_offset = known ? static_cast<std::int32_t>(*from_cfa) : 0;
  }
}

void Transfer::push(std::uint8_t reg) {
  if (state_.knows_depth()) set_depth(std::int64_t{state_.depth} + word_);
  if (state_.knows_depth()) save(reg, state_.depth);
}

void Transfer::pop(std::uint8_t reg) {
  const auto slot = distance(roles_.sp, 0);
  if (state_.knows_depth()) set_depth(std::int64_t{state_.depth} - word_);
  if (reg == roles_.sp) state_.depth = FrameState::kUnknownDepth;
  if (reg == state_.cfa_register) state_.cfa_register = kNoRegister;
  if (reg == roles_.fp) load_fp(slot);
  load_saved(reg, slot);
  // The slot is below the stack pointer now.
  if (slot && *slot == state_.cfa_slot) state_.cfa_slot = 0;
}

FrameState Transfer::run(const Instruction& instruction) {
  const std::uint8_t a = instruction.a;
  const std::uint8_t b = instruction.b;
  switch (instruction.operation) {
    case Operation::kPush:
      push(a);
      break;
    case Operation::kPop:
      pop(a);
      break;
    case Operation::kMove:
    case Operation::kLea: {
      const auto from_cfa = distance(b, instruction.value);
      const bool gives_back = a == roles_.sp && b == state_.cfa_register && b != kNoRegister;
      if (a == roles_.sp || a == roles_.fp) assign(a, from_cfa);
      if (gives_back) state_.realigned = false;
      change(1u << a);
      if (a != roles_.sp && a != roles_.fp && from_cfa && *from_cfa == 0 && !state_.realigned)
        state_.cfa_register = a;
      break;
    }
    case Operation::kAdd:
      if (a == roles_.sp || a == roles_.fp) assign(a, distance(a, instruction.value));
      change(1u << a);
      break;
    case Operation::kLoad:
      lose(instruction.writes & ~(1u << roles_.fp));
      if (a == roles_.fp) load_fp(distance(b, instruction.value));
      load_saved(a, distance(b, instruction.value));
      break;
    case Operation::kStore:
      // Clang's way to save it: the slot was made room for before.
      if (const auto slot = distance(b, instruction.value);
          slot && *slot > word_ && *slot < kMaxFrame)
        save(a, *slot);
      break;
    case Operation::kLeave: {
      const auto slot = distance(roles_.fp, 0);
      assign(roles_.sp, slot ? std::optional(*slot - word_) : std::nullopt);
      load_fp(slot);
      if (state_.realigned) state_.depth = FrameState::kUnknownDepth;
      break;
    }
    case Operation::kPushAll:
      for (const std::uint8_t reg : kPushAllOrder) push(reg);
      break;
    case Operation::kPopAll:
      for (auto reg = kPushAllOrder.rbegin(); reg != kPushAllOrder.rend(); ++reg) {
        // The stack pointer's copy is passed over.
        if (*reg != roles_.sp) {
          pop(*reg);
        } else if (state_.knows_depth()) {
          set_depth(std::int64_t{state_.depth} - word_);
        }
      }
      break;
    case Operation::kCall:
      state_.cfa_register = kNoRegister;
      break;  // a callee gives the stack and frame pointer back as they were
    default:
      lose(instruction.writes);
      break;
  }
  return state_;
}

}  // namespace

// One run over a unit.
class Flow {
 public:
  Flow(const elf::ElfFile& file, const CodeUnit& unit, const arch::ArchInfo& platform,
       Decoder& decoder, FrameAnalysis& result)
      : file_(file), unit_(unit), roles_(platform.roles), decoder_(decoder), result_(result) {}

  void run();

 private:
  struct Item {
    ImageAddr address;
    FrameState state;
    std::uint32_t segment;
    bool after_push_fp = false;
  };
  [[nodiscard]] std::uint32_t new_segment(std::uint32_t parent) {
    const bool is_swept = !result_.segments_.empty() && result_.segments_[parent].is_swept;
    result_.segments_.push_back({.parent = parent, .is_swept = is_swept});
    return static_cast<std::uint32_t>(result_.segments_.size() - 1);
  }
  [[nodiscard]] bool is_full() const {
    return seen_.size() >= (unit_.is_assumed ? kMaxAssumed : kMaxInstructions);
  }
  void note_return(const Item& item);
  [[nodiscard]] std::int64_t popped_by(ImageAddr function);
  [[nodiscard]] bool may_begin_function(ImageAddr at);
  void sum_up_segments();
  void drain();
  void enter_at_labels();
  void visit(const Item& item);
  void sweep_unreached();

  const elf::ElfFile& file_;
  const CodeUnit& unit_;
  const arch::RegisterRoles& roles_;
  Decoder& decoder_;
  FrameAnalysis& result_;
  std::unordered_map<std::uint64_t, std::size_t> seen_;  // address -> index in result_.known_
  std::vector<Item> now_;
  std::deque<Item> later_;  // behind calls
  std::optional<FrameState> at_indirect_jump_;
  std::unordered_map<std::uint64_t, std::int64_t> popped_;  // by function
  std::size_t callees_ = 0;                                 // instructions that were examined
};

void Flow::run() {
  now_.push_back({unit_.start(), FrameState{.depth = roles_.pointer_size}, new_segment(0)});
  drain();
  enter_at_labels();
  sweep_unreached();
  sum_up_segments();
  std::sort(result_.known_.begin(), result_.known_.end(),
            [](const auto& x, const auto& y) { return x.address < y.address; });
}

void Flow::note_return(const Item& item) {
  const FrameState& state = item.state;
  const bool as_entered =
      state.depth == roles_.pointer_size && state.fp == FramePointer::kCaller && state.changed == 0;
  FrameAnalysis::Segment& segment = result_.segments_[item.segment];
  (as_entered ? segment.returns : segment.fails) = true;
}

// How many bytes of arguments a function of i386 pops for its caller, by the first return that its
// flow reaches: 4 where it returns a structure (System V i386 ABI, "Functions Returning Structures
// or Unions"), all of them in some calling conventions.
std::int64_t Flow::popped_by(ImageAddr function) {
  const auto [known, added] = popped_.try_emplace(function.value, 0);
  if (!added) return known->second;
  std::unordered_set<std::uint64_t> seen;
  std::vector<ImageAddr> open = {function};
  while (!open.empty()) {
    ImageAddr at = open.back();
    open.pop_back();
    while (seen.size() < kMaxCallee && callees_ < kMaxInstructions &&
           seen.insert(at.value).second) {
      ++callees_;
      const Instruction instruction = decoder_.decode(file_.bytes_at(at, 16), at);
      if (instruction.operation == Operation::kRet) return known->second = instruction.value;
      const bool jumps = instruction.operation == Operation::kJump;
      if (instruction.operation == Operation::kBranch) open.push_back(*instruction.target);
      if (instruction.operation == Operation::kStop || instruction.operation == Operation::kTrap ||
          instruction.operation == Operation::kJumpIndirect)
        break;
      at = jumps ? *instruction.target : at + instruction.size;
    }
  }
  return 0;
}

// Segments stand behind their parents.
void Flow::sum_up_segments() {
  auto& segments = result_.segments_;
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    segment->leads_to_return |= segment->returns;
    segment->leads_to_failure |= segment->fails;
    FrameAnalysis::Segment& parent = segments[segment->parent];
    const bool is_another =
        segment->may_be_another && segment->leads_to_failure && !segment->leads_to_return;
    segment->is_sound = !is_another;
    parent.leads_to_return |= segment->leads_to_return;
    parent.leads_to_failure |= segment->leads_to_failure && !is_another;
  }
  segments.front().is_sound = !segments.front().leads_to_failure;
  for (std::size_t i = 1; i < segments.size(); ++i)
    segments[i].is_sound &= segments[segments[i].parent].is_sound;
}

// Padding may stand before it.
bool Flow::may_begin_function(ImageAddr at) {
  constexpr std::uint64_t kAlignment = 16;
  while (at.value % kAlignment != 0) {
    const Bytes bytes = file_.bytes_at(at, 16);
    if (!begins_with_padding(bytes)) return false;
    at = at + decoder_.decode(bytes, at).size;
  }
  return true;
}

void Flow::drain() {
  while (!now_.empty() || !later_.empty()) {
    Item item{};
    if (!now_.empty()) {
      item = now_.back();
      now_.pop_back();
    } else {
      item = later_.front();
      later_.pop_front();
    }
    visit(item);
  }
}

void Flow::visit(const Item& item) {
  if (!unit_.contains(item.address)) {
    result_.tail_jumps_.push_back(item.address);
    return;
  }
  if (seen_.contains(item.address.value)) return;
  result_.is_cut_ |= is_full();
  if (is_full()) return;
  const Bytes bytes = file_.bytes_at(item.address, 16);
  const Instruction instruction = decoder_.decode(bytes, item.address);
  seen_.emplace(item.address.value, result_.known_.size());
  result_.known_.push_back({item.address, instruction.size, item.state, item.segment});
  if (instruction.operation == Operation::kStop) return;

  FrameState after = Transfer(item.state, roles_).run(instruction);
  const bool frame_move = instruction.operation == Operation::kMove && instruction.a == roles_.fp &&
                          instruction.b == roles_.sp;
  if (frame_move && item.after_push_fp && !item.state.knows_depth()) {
    // and rsp, -32; push [r10 - 8]; push rbp; mov rbp, rsp: GCC realigns the stack and copies the
    // return address, so that [rbp] and [rbp + 8] are what they are in every frame.
    after.fp = FramePointer::kFrame;
    after.frame_offset = 2 * roles_.pointer_size;
    after.saved_fp = after.frame_offset;
    after.depth = after.frame_offset;
    after.saved = {};
    after.realigned = true;
  }
  if (after.fp == FramePointer::kFrame && after.frame_offset == after.saved_fp)
    result_.makes_frame_ = true;

  const ImageAddr next = item.address + instruction.size;
  const auto go_on = [&](ImageAddr to) { now_.push_back({to, after, item.segment}); };
  switch (instruction.operation) {
    case Operation::kRet:
      note_return(item);
      return;
    case Operation::kInterruptRet:
    case Operation::kSystemRet:
      result_.returns_from_interrupt_ = true;
      return;
    case Operation::kJump:
      return go_on(*instruction.target);
    case Operation::kJumpIndirect:
      if (!at_indirect_jump_) at_indirect_jump_ = item.state;
      return;
    case Operation::kBranch:
      go_on(next);
      return go_on(*instruction.target);
    case Operation::kCall:
      // A call into its own middle (retpolines, "call 1f; 1:") pushes a word and goes on there.
      if (instruction.target && *instruction.target != unit_.start() &&
          unit_.contains(*instruction.target)) {
        FrameState inner = after;
        if (inner.knows_depth()) inner.depth += roles_.pointer_size;
        now_.push_back({*instruction.target, inner, item.segment});
      }
      if (roles_.pointer_size == 4 && instruction.target && after.knows_depth())
        after = Transfer(after, roles_).pop_arguments(popped_by(*instruction.target));
      later_.push_back({next, after, new_segment(item.segment)});
      if (unit_.is_assumed) result_.segments_.back().may_be_another = may_begin_function(next);
      return;
    case Operation::kTrap:
      later_.push_back({next, after, new_segment(item.segment)});
      return;
    default: {
      const bool pushed = instruction.operation == Operation::kPush && instruction.a == roles_.fp;
      now_.push_back({next, after, item.segment, pushed});
      return;
    }
  }
}

// Assembly that is one symbol may be entered at others in it, such as Linux's array of retpolines
// (arch/x86/lib/retpoline.S): global labels that no flow has reached are called like its start.
void Flow::enter_at_labels() {
  const CodeRange& range = unit_.ranges.front();
  const auto& symbols = file_.symbols();
  auto symbol = std::lower_bound(
      symbols.begin(), symbols.end(), range.start,
      [](const elf::FunctionSymbol& s, ImageAddr address) { return s.address < address; });
  for (; symbol != symbols.end() && range.contains(symbol->address); ++symbol) {
    const bool label = !symbol->is_function && symbol->binding == elf::SymbolBinding::kGlobal;
    if (!label || seen_.contains(symbol->address.value)) continue;
    now_.push_back({symbol->address, FrameState{.depth = roles_.pointer_size}, new_segment(0)});
    drain();
  }
}

// Jump tables lead to code that no flow reaches. Its state is the one at the jump.
void Flow::sweep_unreached() {
  if (!at_indirect_jump_) return;
  const FrameState state = *at_indirect_jump_;
  for (const CodeRange& range : unit_.ranges) {
    for (std::uint64_t offset = 0; offset < range.size && !is_full();) {
      const ImageAddr address = range.start + offset;
      if (!seen_.contains(address.value)) {
        now_.push_back({address, state, new_segment(0)});
        result_.segments_.back().is_swept = true;
        drain();
      }
      const auto found = seen_.find(address.value);
      offset += found == seen_.end() ? 1 : result_.known_[found->second].size;
    }
  }
}

FrameAnalysis::FrameAnalysis(const elf::ElfFile& file, const CodeUnit& unit,
                             const arch::ArchInfo& platform, Decoder& decoder) {
  Flow(file, unit, platform, decoder, *this).run();
}

const FrameAnalysis::Known* FrameAnalysis::known_at(ImageAddr at) const {
  auto after = std::upper_bound(known_.begin(), known_.end(), at,
                                [](ImageAddr a, const Known& k) { return a < k.address; });
  if (after == known_.begin()) return nullptr;
  --after;
  return at - after->address < after->size ? &*after : nullptr;
}

std::optional<FrameState> FrameAnalysis::at(ImageAddr at) const {
  const Known* known = known_at(at);
  return known == nullptr ? std::nullopt : std::optional(known->state);
}

std::size_t FrameAnalysis::memory_use() const {
  return sizeof(*this) + known_.capacity() * sizeof(Known) +
         segments_.capacity() * sizeof(Segment) + tail_jumps_.capacity() * sizeof(ImageAddr);
}

bool FrameAnalysis::is_swept(ImageAddr at) const {
  const Known* known = known_at(at);
  return known != nullptr && segments_[known->segment].is_swept;
}

std::optional<FrameState> FrameAnalysis::checked_at(ImageAddr at) const {
  const Known* known = known_at(at);
  if (is_cut_ || known == nullptr || !segments_[known->segment].is_sound) return std::nullopt;
  return known->state;
}

std::optional<Rule> rule_of(const FrameState& state, const arch::ArchInfo& platform) {
  using Kind = RegisterRule::Kind;
  const arch::RegisterRoles& roles = platform.roles;
  Rule rule{.return_register = roles.pc};
  const bool has_frame = state.fp == FramePointer::kFrame;
  if (has_frame && !state.realigned) {
    rule.cfa = {CfaRule::Kind::kRegisterOffset, roles.fp, state.frame_offset, {}};
    rule.source = FrameSource::kFramePointer;
  } else if (has_frame && state.cfa_slot != 0) {
    rule.cfa = {CfaRule::Kind::kDereference, roles.fp, state.frame_offset - state.cfa_slot, {}};
    rule.source = FrameSource::kInstructions;
  } else if (state.cfa_register != kNoRegister && (state.realigned || !state.knows_depth())) {
    rule.cfa = {CfaRule::Kind::kRegisterOffset, state.cfa_register, 0, {}};
    rule.source = FrameSource::kInstructions;
  } else if (state.knows_depth() && !state.realigned) {
    rule.cfa = {CfaRule::Kind::kRegisterOffset, roles.sp, state.depth, {}};
    rule.source = FrameSource::kInstructions;
  } else {
    return std::nullopt;  // on a realigned stack nothing else says where it was before
  }
  rule.registers[roles.sp] = {.kind = Kind::kValOffset};
  rule.registers[roles.pc] = {.kind = Kind::kOffset, .offset = -roles.pointer_size};
  // On a realigned stack slots are known from the frame pointer on.
  const auto saved_at = [&](std::int32_t slot) -> RegisterRule {
    if (!state.realigned) return {.kind = Kind::kOffset, .offset = -slot};
    if (!has_frame) return {};
    return {.kind = Kind::kAtRegister, .reg = roles.fp, .offset = state.frame_offset - slot};
  };
  if (state.fp == FramePointer::kCaller)
    rule.registers[roles.fp] = {.kind = Kind::kSame};
  else if (state.saved_fp != 0)
    rule.registers[roles.fp] = saved_at(state.saved_fp);
  for (std::uint8_t reg = 0; reg < roles.pc; ++reg) {
    const auto index = saved_index(reg, roles);
    if (!index) continue;
    if ((state.changed >> *index & 1u) == 0)
      rule.registers[reg] = {.kind = Kind::kSame};
    else if (state.saved[*index] != 0)
      rule.registers[reg] = saved_at(state.saved[*index]);
  }
  return rule;
}

}  // namespace ringside::unwind::x86
