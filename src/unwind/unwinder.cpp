#include "unwind/unwinder.h"

#include <algorithm>
#include <map>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "unwind/fast_walk.h"
#include "unwind/full_walk.h"
#include "unwind/rule_sources.h"
#include "unwind/walked_stack.h"

namespace ringside::unwind {
namespace {

Stack single_frame(GuestVirt pc, FrameKind kind, StopReason stop) {
  Stack stack;
  stack.frames.push_back(
      {.address = pc, .exact = true, .source = FrameSource::kRegisters, .kind = kind});
  stack.stop = stop;
  stack.stopped_at = pc;
  return stack;
}

const arch::ArchInfo* platform_for(const wire::Capture& capture) {
  return arch::find_info(capture.arch, arch::running_level(capture.arch, capture.registers));
}

// A capture with all that the first step from code that was interrupted needs. Where there is a
// link register, it holds the return address for as long as the code has no frame, saved or not:
// whatever the stack's words are taken for, they are that.
wire::Capture leaf_of(Arch arch, GuestVirt pc, const wire::WalkedFrames::Interruption& at) {
  constexpr std::size_t kLargestFrame = 1024;
  const arch::RegisterRoles& roles = arch::roles_of(arch);
  wire::Capture leaf;
  leaf.arch = arch;
  leaf.level = PrivilegeLevel::kKernel;
  leaf.registers.set(roles.pc, pc.value);
  leaf.registers.set(roles.sp, at.sp);
  leaf.registers.set(roles.fp, at.fp);
  if (at.words.empty()) return leaf;
  if (roles.link != arch::kNoRegister) {
    leaf.registers.set(roles.link, at.words.front());
    while (leaf.bytes.size() < kLargestFrame)
      append(at.words.front(), roles.pointer_size, leaf.bytes);
  } else {
    for (const std::uint64_t word : at.words) append(word, roles.pointer_size, leaf.bytes);
  }
  const auto size = static_cast<std::uint32_t>(leaf.bytes.size());
  leaf.pieces.push_back({.address = GuestVirt{at.sp},
                         .why = wire::PieceKind::kCurrentStack,
                         .requested = size,
                         .offset = 0,
                         .size = size});
  return leaf;
}

std::size_t interrupted_frames(const Stack& stack) {
  return static_cast<std::size_t>(
      std::count_if(stack.frames.begin(), stack.frames.end(),
                    [](const Frame& frame) { return frame.kind == FrameKind::kInterrupt; }));
}

}  // namespace

class Unwinder::Impl {
 public:
  Impl(const elf::ImageMap& images, Options options)
      : images_(images), options_(std::move(options)) {}

  [[nodiscard]] Stack unwind(const wire::Capture& capture);
  [[nodiscard]] UserEntry user_entry(const wire::Capture& capture);
  void set_kernel_seen(bool seen) { options_.kernel_seen = seen; }
  void set_entries(std::vector<TrapFrameLayout> entries, std::vector<ReturnHook> hooks) {
    options_.entries = std::move(entries);
    options_.hooks = std::move(hooks);
    machines_.clear();
  }
  [[nodiscard]] const Statistics& statistics();

 private:
  // Everything that belongs to one architecture, and to one level where kernels run in several. A
  // guest has one; a kernel that starts in machine mode and goes on below two.
  struct Machine {
    Machine(const elf::ImageMap& images, const arch::ArchInfo& platform, TableUse tables)
        : sources(images, platform, tables), fast(sources), full(sources) {}
    RuleSources sources;
    FastWalk fast;
    FullWalk full;
  };

  [[nodiscard]] bool may_be_firmware(GuestVirt pc, const arch::ArchInfo& platform) const;
  [[nodiscard]] Machine& machine_for(const arch::ArchInfo& platform);
  void walk(const wire::Capture& capture, const arch::ArchInfo& platform, Stack& stack);
  [[nodiscard]] std::optional<Frame> missed_caller(const arch::ArchInfo& platform, GuestVirt pc,
                                                   const wire::WalkedFrames::Interruption& at);
  void count(const Stack& stack);

  const elf::ImageMap& images_;
  Options options_;
  std::map<const arch::ArchInfo*, std::unique_ptr<Machine>> machines_;
  Statistics statistics_;
};

// Before the kernel is known to run. A BIOS or a boot loader runs in the lower half of the address
// space.
bool Unwinder::Impl::may_be_firmware(GuestVirt pc, const arch::ArchInfo& platform) const {
  const std::uint64_t upper_half = std::uint64_t{1} << (8 * platform.roles.pointer_size - 1);
  return pc.value < upper_half && images_.find_code(pc) == nullptr;
}

Unwinder::Impl::Machine& Unwinder::Impl::machine_for(const arch::ArchInfo& platform) {
  std::unique_ptr<Machine>& machine = machines_[&platform];
  if (!machine) {
    machine = std::make_unique<Machine>(images_, platform, options_.tables);
    machine->sources.set_entries(options_.entries, options_.hooks);
  }
  if (machine->sources.refresh()) machine->fast.forget();
  return *machine;
}

Stack Unwinder::Impl::unwind(const wire::Capture& capture) {
  ++statistics_.stacks;
  const arch::Registers& registers = capture.registers;
  const arch::ArchInfo* platform = platform_for(capture);
  if (capture.disposition != wire::Disposition::kSampled || platform == nullptr ||
      !registers.has(platform->roles.pc))
    return {};
  if (const auto walked = wire::WalkedFrames::find(capture, wire::PieceKind::kKernelFrames)) {
    Stack stack =
        walked_stack(*walked, FrameKind::kKernel, [&](GuestVirt pc, const auto& interruption) {
          return missed_caller(*platform, pc, interruption);
        });
    count(stack);
    return stack;
  }
  const GuestVirt pc{registers.get(platform->roles.pc)};
  PrivilegeLevel level = capture.level;
  if (level == PrivilegeLevel::kUnknown && registers.has(platform->saved_mode.reg))
    level = platform->saved_mode.is_user(registers.get(platform->saved_mode.reg))
                ? PrivilegeLevel::kUser
                : PrivilegeLevel::kKernel;
  Stack stack;
  if (level == PrivilegeLevel::kUser)
    stack = single_frame(pc, FrameKind::kUser, StopReason::kUser);
  else if (level == PrivilegeLevel::kGuest)
    stack = single_frame(pc, FrameKind::kGuest, StopReason::kUser);
  else if (level == PrivilegeLevel::kFirmware ||
           (!options_.kernel_seen && may_be_firmware(pc, *platform)))
    stack = single_frame(pc, FrameKind::kFirmware, StopReason::kFirmware);
  else if (!registers.has(platform->roles.sp))
    stack = single_frame(pc, FrameKind::kKernel, StopReason::kNoRegisters);
  else
    walk(capture, *platform, stack);
  count(stack);
  return stack;
}

void Unwinder::Impl::walk(const wire::Capture& capture, const arch::ArchInfo& platform,
                          Stack& stack) {
  Machine& machine = machine_for(platform);
  stack.frames.reserve(32);
  const Frame first{.address = {capture.registers.get(platform.roles.pc)}, .exact = true};
  stack.frames.push_back(first);
  const bool fast = !options_.full_only;
  const std::size_t limit = options_.max_frames;
  if (fast && machine.fast.walk(capture, frontier_of(capture, platform), limit, stack)) return;
  ++statistics_.slow_stacks;
  machine.full.start(capture);
  std::size_t known = 1;        // frames that the full walk has reached
  std::size_t interrupted = 0;  // so many of them lie above an interrupt
  for (;;) {
    // The full walk goes on from where it was, to behind the frame that the fast one gave up at.
    const std::size_t enough = fast ? stack.frames.size() : SIZE_MAX;
    stack.frames.resize(known);
    for (std::size_t i = interrupted; i < known; ++i) stack.frames[i].kind = FrameKind::kKernel;
    const bool ended = machine.full.walk(capture, limit, enough, stack);
    statistics_.slow_frames += stack.frames.size() - known;
    known = stack.frames.size();
    interrupted = interrupted_frames(stack);
    if (ended || machine.fast.walk(capture, machine.full.frontier(), limit, stack)) return;
  }
}

// A guest that walks frame pointers misses the caller of code that has not made its frame yet, or
// has given it up: there the frame pointer is still, or again, that caller's.
std::optional<Frame> Unwinder::Impl::missed_caller(const arch::ArchInfo& platform, GuestVirt pc,
                                                   const wire::WalkedFrames::Interruption& at) {
  const arch::RegisterRoles& roles = platform.roles;
  const wire::Capture leaf = leaf_of(platform.id, pc, at);
  Stack stack = single_frame(pc, FrameKind::kKernel, StopReason::kNoRegisters);
  FullWalk& walk = machine_for(platform).full;
  walk.start(leaf);
  constexpr std::size_t kBoth = 2;
  (void)walk.walk(leaf, kBoth, SIZE_MAX, stack);
  const MachineState& caller = walk.state();
  if (stack.frames.size() != kBoth || !caller.has(roles.fp)) return std::nullopt;
  const GuestVirt record =
      GuestVirt{at.fp} +
      static_cast<std::uint64_t>(platform.frame_record.from_fp * roles.pointer_size);
  const GuestVirt slot = caller.slots[roles.fp];
  const bool has_frame = slot != GuestVirt{} && slot == record;
  const bool is_guess = stack.frames.back().source == FrameSource::kGuess;
  return has_frame || is_guess ? std::nullopt : std::optional(stack.frames.back());
}

// The fast walk knows too few registers.
UserEntry Unwinder::Impl::user_entry(const wire::Capture& capture) {
  const arch::ArchInfo* platform = platform_for(capture);
  if (capture.level != PrivilegeLevel::kKernel || platform == nullptr ||
      !capture.registers.has(platform->roles.pc) || !capture.registers.has(platform->roles.sp))
    return {};
  Machine& machine = machine_for(*platform);
  Stack stack = single_frame({capture.registers.get(platform->roles.pc)}, FrameKind::kKernel,
                             StopReason::kNoRegisters);
  machine.full.start(capture);
  if (!machine.full.walk(capture, options_.max_frames, SIZE_MAX, stack)) return {};
  return machine.full.user_entry(capture, stack.stop);
}

void Unwinder::Impl::count(const Stack& stack) {
  statistics_.frames += stack.frames.size();
  // Run by run: most frames of a stack have one source.
  for (auto frame = stack.frames.begin(); frame != stack.frames.end();) {
    const auto run = frame;
    while (frame != stack.frames.end() && frame->source == run->source) ++frame;
    statistics_.frames_by_source[static_cast<std::size_t>(run->source)] +=
        static_cast<std::uint64_t>(frame - run);
  }
}

const Statistics& Unwinder::Impl::statistics() {
  statistics_.rule_hits = 0;
  statistics_.rule_misses = 0;
  for (const auto& [platform, machine] : machines_) {
    statistics_.rule_hits += machine->fast.hits();
    statistics_.rule_misses += machine->fast.misses();
  }
  return statistics_;
}

Unwinder::Unwinder(const elf::ImageMap& images, Options options)
    : impl_(std::make_unique<Impl>(images, std::move(options))) {}
Unwinder::~Unwinder() = default;
Unwinder::Unwinder(Unwinder&&) noexcept = default;
Unwinder& Unwinder::operator=(Unwinder&&) noexcept = default;

Stack Unwinder::unwind(const wire::Capture& capture) { return impl_->unwind(capture); }
UserEntry Unwinder::user_entry(const wire::Capture& capture) { return impl_->user_entry(capture); }
void Unwinder::set_kernel_seen(bool seen) { impl_->set_kernel_seen(seen); }
void Unwinder::set_entries(std::vector<TrapFrameLayout> entries, std::vector<ReturnHook> hooks) {
  impl_->set_entries(std::move(entries), std::move(hooks));
}
const Statistics& Unwinder::statistics() const { return impl_->statistics(); }

}  // namespace ringside::unwind
