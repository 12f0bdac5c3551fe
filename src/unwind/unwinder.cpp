#include "unwind/unwinder.h"

#include <algorithm>

#include "unwind/cfi/table.h"
#include "unwind/step.h"
#include "unwind/x86_64/code_stepper.h"

namespace ringside::unwind {

using namespace wire::x86_64;

namespace {

constexpr std::size_t kCacheSlots = 8192;  // a power of two

bool is_user(std::uint64_t code_segment) { return (code_segment & 3) == 3; }

Stack single_frame(GuestVirt pc, FrameKind kind, StopReason stop) {
  Stack stack;
  stack.frames.push_back(
      {.address = pc, .exact = true, .source = FrameSource::kRegisters, .kind = kind});
  stack.stop = stop;
  stack.stopped_at = pc;
  return stack;
}

}  // namespace

class Unwinder::Impl {
 public:
  Impl(const elf::ImageMap& images, Options options)
      : images_(images), options_(std::move(options)), code_(images), cache_(kCacheSlots) {
    sort_entries();
  }

  [[nodiscard]] bool may_be_firmware(GuestVirt pc) const;
  [[nodiscard]] Stack unwind(const wire::Capture& capture);
  void set_kernel_seen(bool seen) { options_.kernel_seen = seen; }
  void set_entries(std::vector<EntryLayout> entries) {
    options_.entries = std::move(entries);
    sort_entries();
  }
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  // What is known of one code address.
  struct Known {
    GuestVirt at;
    bool used = false;
    const elf::Image* image = nullptr;
    bool has_cfi = false;
    RuleContext context = {};
    Rule cfi = {};
    x86_64::CodeRule code = {};
  };

  void walk(const wire::Capture& capture, MachineState state, Stack& stack);
  [[nodiscard]] const Known& known_at(GuestVirt at);
  [[nodiscard]] const EntryLayout* entry_at(GuestVirt pc) const;
  [[nodiscard]] Step step(const MachineState& state, const StackMemory& memory);
  [[nodiscard]] Step step_entry(const EntryLayout& entry, const MachineState& state,
                                const StackMemory& memory) const;
  // Judges a caller, follows stack links, and finds the crossing to user code.
  [[nodiscard]] std::optional<Stop> check(const MachineState& before, Caller& caller,
                                          const StackMemory& memory) const;
  void sort_entries();

  const elf::ImageMap& images_;
  Options options_;
  x86_64::CodeStepper code_;
  std::vector<std::unique_ptr<cfi::Table>> tables_;  // by image number in the map
  std::vector<Known> cache_;
  std::uint64_t generation_ = 0;
  Statistics statistics_;
};

void Unwinder::Impl::sort_entries() {
  std::sort(options_.entries.begin(), options_.entries.end(),
            [](const EntryLayout& a, const EntryLayout& b) { return a.start < b.start; });
}

const EntryLayout* Unwinder::Impl::entry_at(GuestVirt pc) const {
  auto after = std::upper_bound(options_.entries.begin(), options_.entries.end(), pc,
                                [](GuestVirt at, const EntryLayout& e) { return at < e.start; });
  if (after == options_.entries.begin()) return nullptr;
  --after;
  return pc < after->end ? &*after : nullptr;
}

const Unwinder::Impl::Known& Unwinder::Impl::known_at(GuestVirt at) {
  if (generation_ != images_.generation()) {
    generation_ = images_.generation();
    cache_.assign(kCacheSlots, {});
    code_.forget();
    tables_.resize(images_.images().size());
  }
  // Code addresses differ in their low bits; Fibonacci hashing spreads those of all images.
  const std::uint64_t hash = at.value * 0x9e3779b97f4a7c15u;
  Known& known = cache_[hash >> 51 & (kCacheSlots - 1)];
  if (known.used && known.at == at) {
    ++statistics_.rule_hits;
    return known;
  }
  ++statistics_.rule_misses;
  known = {.at = at, .used = true, .image = images_.find_code(at)};
  if (known.image == nullptr) return known;
  const auto number = static_cast<std::size_t>(
      std::find_if(images_.images().begin(), images_.images().end(),
                   [&](const elf::Image& image) { return &image == known.image; }) -
      images_.images().begin());
  auto& table = tables_[number];
  if (!table) table = std::make_unique<cfi::Table>(known.image->file);
  if (const auto found = table->find(known.image->to_image(at))) {
    known.has_cfi = true;
    known.cfi = found->rule;
    known.context = {found->section, known.image->load_bias};
    return known;
  }
  known.code = code_.rule_at(*known.image, at);
  return known;
}

// Before the kernel is known to run. A BIOS or a boot loader runs in the lower half of the address
// space; without any kernel file there is nothing to tell it from a kernel.
bool Unwinder::Impl::may_be_firmware(GuestVirt pc) const {
  constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 63;
  return !images_.images().empty() && pc.value < kUpperHalf && images_.find_code(pc) == nullptr;
}

Stack Unwinder::Impl::unwind(const wire::Capture& capture) {
  ++statistics_.stacks;
  Stack stack;
  const wire::Registers& registers = capture.registers;
  if (capture.disposition != wire::Disposition::kSampled || capture.arch != Arch::kX86_64 ||
      !registers.has(kRip) || !registers.has(kRsp))
    return stack;
  const GuestVirt pc{registers.get(kRip)};
  PrivilegeLevel level = capture.level;
  if (level == PrivilegeLevel::kUnknown && registers.has(kCs))
    level = is_user(registers.get(kCs)) ? PrivilegeLevel::kUser : PrivilegeLevel::kKernel;
  if (level == PrivilegeLevel::kUser) {
    stack = single_frame(pc, FrameKind::kUser, StopReason::kUser);
  } else if (level == PrivilegeLevel::kFirmware || (!options_.kernel_seen && may_be_firmware(pc))) {
    stack = single_frame(pc, FrameKind::kFirmware, StopReason::kFirmware);
  } else {
    MachineState state;
    for (std::size_t reg = 0; reg < kTrackedRegisters; ++reg)
      if (registers.has(reg)) state.set(reg, registers.get(reg));
    state.exact = true;
    walk(capture, state, stack);
  }
  statistics_.frames += stack.frames.size();
  return stack;
}

void Unwinder::Impl::walk(const wire::Capture& capture, MachineState state, Stack& stack) {
  const StackMemory memory(capture, images_);
  stack.frames.reserve(32);
  stack.frames.push_back({.address = state.pc(), .exact = true});
  const auto stop = [&](const Stop& why) {
    stack.stop = why.reason;
    stack.stopped_at = why.at;
    stack.missing_link = why.link;
  };
  for (;;) {
    if (stack.frames.size() >= options_.max_frames) return stop({StopReason::kTooDeep, state.pc()});
    Step result = step(state, memory);
    if (const auto* why = std::get_if<Stop>(&result)) return stop(*why);
    Caller& caller = std::get<Caller>(result);
    if (const auto why = check(state, caller, memory)) return stop(*why);
    if (caller.interrupted)
      for (Frame& frame : stack.frames) frame.kind = FrameKind::kInterrupt;
    stack.frames.push_back(
        {.address = caller.state.pc(), .exact = caller.state.exact, .source = caller.source});
    state = caller.state;
  }
}

Step Unwinder::Impl::step(const MachineState& state, const StackMemory& memory) {
  if (const EntryLayout* entry = entry_at(state.pc())) return step_entry(*entry, state, memory);
  const Known& known = known_at(state.exact ? state.pc() : state.pc() - 1);
  if (known.has_cfi) return apply(known.cfi, known.context, state, memory);
  return code_.step(known.image, known.code, state, memory);
}

Step Unwinder::Impl::step_entry(const EntryLayout& entry, const MachineState& state,
                                const StackMemory& memory) const {
  if (entry.ends) return Stop{StopReason::kEndOfStack, state.pc()};
  Caller caller{.state = {},
                .source = FrameSource::kInterruptFrame,
                .interrupted = true,
                .stack_switched = true};
  caller.state.exact = true;
  std::optional<GuestVirt> unreadable;
  const auto load = [&](std::size_t reg) -> std::optional<std::uint64_t> {
    if (!entry.frame.saves(reg)) return std::nullopt;
    const GuestVirt at =
        state.sp() + static_cast<std::uint64_t>(std::int64_t{entry.frame.offsets[reg]});
    const auto value = memory.read_u64(at);
    if (value && reg < kTrackedRegisters) caller.state.set(reg, *value, at);
    if (!value && !unreadable) unreadable = at;
    return value;
  };
  if (const auto cs = load(kCs); cs && is_user(*cs)) return Stop{StopReason::kUserMode, state.pc()};
  for (std::size_t reg = 0; reg < kTrackedRegisters; ++reg) load(reg);
  if (caller.state.has(kRip) && caller.state.has(kRsp)) return caller;
  if (!unreadable) return Stop{StopReason::kNoRule, state.pc()};
  const Miss miss = memory.explain(*unreadable, state.slots[kRsp]);
  return Stop{miss.reason, miss.address, miss.link};
}

std::optional<Stop> Unwinder::Impl::check(const MachineState& before, Caller& caller,
                                          const StackMemory& memory) const {
  MachineState& state = caller.state;
  // The code segment lies behind the rip that hardware pushed.
  const GuestVirt rip_slot = state.slots[kRip];
  const auto pushed_by_user = [&] {
    const auto cs = rip_slot.value == 0 ? std::nullopt : memory.read_u64(rip_slot + 8);
    return cs && is_user(*cs) && *cs <= 0xffff;
  };
  if (caller.interrupted && pushed_by_user()) return Stop{StopReason::kUserMode, before.pc()};
  const GuestVirt pc = state.pc();
  if (pc.value == 0) return Stop{StopReason::kEndOfStack, before.pc()};

  // Linux's call_on_irqstack (arch/x86/include/asm/irq_stack.h) does `movq %rsp, (%tos); movq %tos,
  // %rsp; call f; popq %rsp`: the CFA of f is tos, and its caller's stack pointer lies there.
  for (const GuestVirt slot : {state.sp(), state.sp() - 8}) {
    const wire::MemoryPiece* link = memory.link_at(slot);
    const auto value = link == nullptr ? std::nullopt : memory.read_u64(slot);
    if (!value || *value == 0) continue;
    state.set(kRsp, *value, slot);
    caller.stack_switched = true;
    break;
  }

  const bool same_stack = !caller.stack_switched && memory.same_piece(before.sp(), state.sp());
  if (state.sp().value % 8 != 0 || (same_stack && state.sp() <= before.sp()))
    return Stop{StopReason::kNotAdvancing, state.sp()};
  if (images_.find_code(state.exact ? pc : pc - 1) == nullptr) {
    const bool user_code = pc.value >> 47 == 0 && pushed_by_user();
    return Stop{user_code ? StopReason::kUserMode : StopReason::kBadAddress, pc};
  }
  return std::nullopt;
}

Unwinder::Unwinder(const elf::ImageMap& images, Options options)
    : impl_(std::make_unique<Impl>(images, std::move(options))) {}
Unwinder::~Unwinder() = default;
Unwinder::Unwinder(Unwinder&&) noexcept = default;
Unwinder& Unwinder::operator=(Unwinder&&) noexcept = default;

Stack Unwinder::unwind(const wire::Capture& capture) { return impl_->unwind(capture); }
void Unwinder::set_kernel_seen(bool seen) { impl_->set_kernel_seen(seen); }
void Unwinder::set_entries(std::vector<EntryLayout> entries) {
  impl_->set_entries(std::move(entries));
}
const Statistics& Unwinder::statistics() const { return impl_->statistics(); }

}  // namespace ringside::unwind
