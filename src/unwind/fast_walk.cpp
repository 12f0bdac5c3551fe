#include "unwind/fast_walk.h"

#include <algorithm>
#include <cstring>

#include "arch/arch_info.h"
#include "unwind/stack_end.h"
#include "unwind/x86/interrupt_frame.h"

namespace ringside::unwind {
namespace {

using Kind = CompactRule::Kind;
using Place = CompactRule::Place;

constexpr std::size_t kCacheLine = 64;
// How far ahead of the walk stack bytes are called for: they were written by another thread, and a
// walk waits for them longer than for anything else.
constexpr std::size_t kAhead = 512;

// Reads words of the capture's pieces; the piece that the last word came from is tried first.
class PieceReader {
 public:
  PieceReader(const wire::Capture& capture, std::size_t word) : capture_(capture), word_(word) {}

  [[nodiscard]] bool read(std::uint64_t address, std::uint64_t& value) {
    if (address - start_ >= size_ || size_ - (address - start_) < word_) {
      if (!find(address)) return false;
    }
    if (word_ == 8) {
      std::memcpy(&value, data_ + (address - start_), 8);
    } else {
      value = 0;
      std::memcpy(&value, data_ + (address - start_), 4);
    }
    return true;
  }

  void prefetch_from(std::uint64_t address) {
    if (address - start_ >= size_ && !find(address)) return;
    const std::uint64_t offset = address - start_;
    const std::uint64_t end = std::min<std::uint64_t>(size_, offset + kAhead);
    for (std::uint64_t at = offset; at < end; at += kCacheLine) __builtin_prefetch(data_ + at);
  }
  // For one line, at a step.
  void prefetch_ahead_of(std::uint64_t address) const {
    const std::uint64_t offset = address - start_ + kAhead;
    if (offset < size_) __builtin_prefetch(data_ + offset);
  }

 private:
  [[gnu::noinline]] bool find(std::uint64_t address) {
    for (const wire::MemoryPiece& piece : capture_.pieces) {
      const std::uint64_t offset = address - piece.address.value;
      if (!piece.is_memory() || offset >= piece.size || piece.size - offset < word_) continue;
      start_ = piece.address.value;
      size_ = piece.size;
      data_ = capture_.bytes.data() + piece.offset;
      return true;
    }
    return false;
  }

  const wire::Capture& capture_;
  std::size_t word_;
  std::uint64_t start_ = 0;
  std::uint64_t size_ = 0;
  const std::byte* data_ = nullptr;
};

enum class Outcome : std::uint8_t { kStep, kEnd, kUserMode, kGiveUp };

// A frame pointer of zero ends a stack, as for CodeStepper::step; a leaf may not have set it yet.
bool ends_here(const CompactRule& rule, const Frontier& at) {
  if (!at.has_fp || at.fp != 0) return false;
  return rule.source == FrameSource::kFramePointer ||
         (rule.source == FrameSource::kInstructions && rule.ends_at_zero_fp && !at.exact);
}

class Stepper {
 public:
  Stepper(const wire::Capture& capture, RuleSources& sources)
      : sources_(sources),
        platform_(sources.platform()),
        images_(sources.images()),
        capture_(capture),
        reader_(capture, platform_.roles.pointer_size),
        leaf_sp_(capture.registers.get(platform_.roles.sp)),
        pieces_(capture.pieces) {
    for (const wire::MemoryPiece& piece : pieces_) {
      if (piece.why != wire::PieceKind::kStackLink) continue;
      first_link_ = std::min(first_link_, piece.address.value);
      last_link_ = std::max(last_link_, piece.address.value);
    }
  }

  void start(const Frontier& at) { reader_.prefetch_from(at.sp); }

  [[nodiscard]] Outcome step(const CompactRule& rule, Frontier& at) {
    if (at.sp >= first_link_ && at.sp <= last_link_ + platform_.roles.pointer_size &&
        !rule.knows_links)
      follow_link(at.sp);
    if (rule.base == CompactRule::Base::kFramePointer && !at.has_fp) return Outcome::kGiveUp;
    std::uint64_t base = rule.base == CompactRule::Base::kFramePointer ? at.fp : at.sp;
    const bool switches = rule.base == CompactRule::Base::kOtherStack;
    if (switches && !reader_.read(at.sp, base)) return Outcome::kGiveUp;
    const std::uint64_t cfa = place(base, rule.cfa_offset);
    if (rule.checks_frame && !is_hardware_frame({place(cfa, rule.pc_offset)}))
      return Outcome::kGiveUp;
    if (rule.has_status) {
      std::uint64_t status = 0;
      if (!reader_.read(place(cfa, rule.status_offset), status)) return Outcome::kGiveUp;
      if (platform_.saved_mode.is_user(status)) return Outcome::kUserMode;
    }
    std::uint64_t pc = at.link;
    if (rule.pc == Place::kLink ? !at.has_link : !reader_.read(place(cfa, rule.pc_offset), pc))
      return Outcome::kGiveUp;
    pc = platform_.code_address(pc);
    // The first function of a thread returns to 0.
    if (pc == 0 && rule.kind == Kind::kCall) return ends(cfa) ? Outcome::kEnd : Outcome::kGiveUp;
    std::uint64_t sp = cfa;
    if (rule.sp == Place::kSaved && !reader_.read(place(cfa, rule.sp_offset), sp))
      return Outcome::kGiveUp;
    if (!frame_pointer(rule, cfa, at)) return Outcome::kGiveUp;
    at.has_link = rule.link == Place::kSaved;
    if (at.has_link && !reader_.read(place(cfa, rule.link_offset), at.link))
      return Outcome::kGiveUp;
    const bool moves = rule.kind == Kind::kFrame || switches || sp > at.sp ||
                       (sp == at.sp && rule.pc == Place::kLink);
    const bool is_aligned =
        rule.kind == Kind::kFrame || (sp & (platform_.roles.stack_alignment - 1u)) == 0;
    if (!moves || pc == 0 || !is_aligned) return Outcome::kGiveUp;
    reader_.prefetch_ahead_of(sp);
    at.pc = pc;
    at.sp = sp;
    at.exact = rule.kind == Kind::kFrame;
    return Outcome::kStep;
  }

 private:
  [[nodiscard]] std::uint64_t place(std::uint64_t base, std::int64_t offset) const {
    return (base + static_cast<std::uint64_t>(offset)) & platform_.address_mask();
  }
  [[nodiscard]] bool frame_pointer(const CompactRule& rule, std::uint64_t cfa, Frontier& at) {
    if (rule.fp == Place::kLost) at.has_fp = false;
    if (rule.fp != Place::kSaved) return true;
    const std::uint64_t slot = place(cfa, rule.fp_offset);
    // Popped already, or not pushed yet, though the rule does not say so: see step.cpp.
    const auto is_below = [slot](std::uint64_t sp) { return slot < sp && sp - slot < 4096; };
    const bool is_pushing = rule.kind == Kind::kFrame &&
                            platform_.roles.link == arch::RegisterRoles::kNone &&
                            is_below(leaf_sp_);
    if (at.has_fp && ((at.exact && is_below(at.sp)) || is_pushing)) return true;
    at.has_fp = true;
    return reader_.read(slot, at.fp);
  }
  [[nodiscard]] bool ends(std::uint64_t cfa) const {
    const StackMemory memory(capture_, images_);
    return StackEnd(sources_, memory).is_near(GuestVirt{cfa});
  }
  [[nodiscard]] bool is_hardware_frame(GuestVirt at) {
    const auto frame = x86::make_interrupt_frame(
        at, platform_, [&](std::uint64_t i) -> std::optional<std::uint64_t> {
          std::uint64_t word = 0;
          const auto offset = static_cast<std::int64_t>(i * platform_.roles.pointer_size);
          if (!reader_.read(place(at.value, offset), word)) return std::nullopt;
          return word;
        });
    return frame && x86::is_plausible(*frame, capture_, images_);
  }
  // Linux's call_on_irqstack: see full_walk.cpp.
  [[gnu::noinline]] void follow_link(std::uint64_t& sp) {
    for (const wire::MemoryPiece& piece : pieces_) {
      if (piece.why != wire::PieceKind::kStackLink || piece.size < platform_.roles.pointer_size)
        continue;
      const std::uint64_t slot = piece.address.value;
      std::uint64_t value = 0;
      if ((slot != sp && slot != sp - platform_.roles.pointer_size) || !reader_.read(slot, value) ||
          value == 0)
        continue;
      sp = value;
      return;
    }
  }

  RuleSources& sources_;
  const arch::ArchInfo& platform_;
  const elf::ImageMap& images_;
  const wire::Capture& capture_;
  PieceReader reader_;
  std::uint64_t leaf_sp_;
  const std::vector<wire::MemoryPiece>& pieces_;
  // The lowest and the highest slot of a link to another stack, if there is any.
  std::uint64_t first_link_ = ~std::uint64_t{0};
  std::uint64_t last_link_ = 0;
};

}  // namespace

Frontier frontier_of(const wire::Capture& capture, const arch::ArchInfo& platform) {
  const arch::RegisterRoles& roles = platform.roles;
  const arch::Registers& registers = capture.registers;
  Frontier at{.pc = registers.get(roles.pc),
              .sp = registers.get(roles.sp),
              .fp = registers.get(roles.fp),
              .has_fp = registers.has(roles.fp)};
  if (roles.link != arch::RegisterRoles::kNone && registers.has(roles.link)) {
    at.link = registers.get(roles.link);
    at.has_link = true;
  }
  return at;
}

const CompactRule& FastWalk::look_up(CodeAddress at) {
  ++misses_;
  return cache_.add(at.key(), sources_.compact_at(at));
}

bool FastWalk::walk(const wire::Capture& capture, const Frontier& from, std::size_t max_frames,
                    Stack& stack) {
  Frontier at = from;
  Stepper stepper(capture, sources_);
  stepper.start(at);
  const auto end = [&](StopReason reason) {
    stack.stop = reason;
    stack.stopped_at = {at.pc};
    return true;
  };
  for (;;) {
    const CodeAddress code{{at.pc}, at.exact};
    const CompactRule* known = cache_.find(code.key());
    const CompactRule& rule = known != nullptr ? *known : look_up(code);
    ++lookups_;
    if (rule.kind == Kind::kEnd || ends_here(rule, at)) {
      stack.frames.back().exact |= sources_.starts_stack({at.pc});
      return end(StopReason::kEndOfStack);
    }
    if (rule.kind == Kind::kUser) return end(StopReason::kUserMode);
    if (rule.kind == Kind::kNone || rule.kind == Kind::kSlow || stack.frames.size() >= max_frames)
      return false;
    const Outcome outcome = stepper.step(rule, at);
    if (outcome == Outcome::kGiveUp) return false;
    if (outcome == Outcome::kEnd) return end(StopReason::kEndOfStack);
    if (outcome == Outcome::kUserMode) return end(StopReason::kUserMode);
    if (rule.kind == Kind::kFrame)
      for (Frame& frame : stack.frames) frame.kind = FrameKind::kInterrupt;
    stack.frames.push_back({.address = {at.pc}, .exact = at.exact, .source = rule.source});
  }
}

}  // namespace ringside::unwind
