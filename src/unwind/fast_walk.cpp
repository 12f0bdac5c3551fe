#include "unwind/fast_walk.h"

#include <cstring>

namespace ringside::unwind {
namespace {

using Kind = CompactRule::Kind;
using Place = CompactRule::Place;

constexpr std::size_t kCacheSlots = 8192;  // a power of two

// The registers that compact rules know.
struct Frontier {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t fp = 0;
  std::uint64_t link = 0;
  bool exact = true;
  bool has_fp = false;
  bool has_link = false;
};

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

 private:
  [[nodiscard]] bool find(std::uint64_t address) {
    for (const wire::MemoryPiece& piece : capture_.pieces) {
      const std::uint64_t offset = address - piece.address.value;
      if (offset >= piece.size || piece.size - offset < word_) continue;
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

enum class Outcome : std::uint8_t { kStep, kUserMode, kGiveUp };

// A frame pointer of zero ends a stack, as for CodeStepper::step; a leaf may not have set it yet.
bool ends_here(const CompactRule& rule, const Frontier& at) {
  if (!at.has_fp || at.fp != 0) return false;
  return rule.source == FrameSource::kFramePointer ||
         (rule.source == FrameSource::kInstructions && !at.exact);
}

class Stepper {
 public:
  Stepper(const wire::Capture& capture, const Platform& platform)
      : platform_(platform),
        reader_(capture, platform.roles.pointer_size),
        leaf_sp_(capture.registers.get(platform.roles.sp)),
        pieces_(capture.pieces) {
    for (const wire::MemoryPiece& piece : pieces_)
      has_links_ |= piece.why == wire::PieceKind::kStackLink;
  }

  [[nodiscard]] Outcome step(const CompactRule& rule, Frontier& at) {
    if (has_links_ && rule.source != FrameSource::kOrc) follow_link(at.sp);
    if (rule.base == CompactRule::Base::kFramePointer && !at.has_fp) return Outcome::kGiveUp;
    std::uint64_t base = rule.base == CompactRule::Base::kFramePointer ? at.fp : at.sp;
    const bool switches = rule.base == CompactRule::Base::kOtherStack;
    if (switches && !reader_.read(at.sp, base)) return Outcome::kGiveUp;
    const std::uint64_t cfa = place(base, rule.cfa_offset);
    if (rule.has_status) {
      std::uint64_t status = 0;
      if (!reader_.read(place(cfa, rule.status_offset), status)) return Outcome::kGiveUp;
      if (platform_.is_user(status)) return Outcome::kUserMode;
    }
    Frontier next{.sp = cfa, .exact = rule.kind == Kind::kFrame};
    if (!program_counter(rule, at, cfa, next.pc) || !frame_pointer(rule, at, cfa, next))
      return Outcome::kGiveUp;
    if (rule.sp == Place::kSaved && !reader_.read(place(cfa, rule.sp_offset), next.sp))
      return Outcome::kGiveUp;
    if (rule.link == Place::kSaved) {
      if (!reader_.read(place(cfa, rule.link_offset), next.link)) return Outcome::kGiveUp;
      next.has_link = true;
    }
    const bool moves = rule.kind == Kind::kFrame || switches || next.sp > at.sp ||
                       (next.sp == at.sp && rule.pc == Place::kLink);
    if (!moves || next.pc == 0 || next.sp % platform_.roles.stack_alignment != 0)
      return Outcome::kGiveUp;
    at = next;
    return Outcome::kStep;
  }

 private:
  [[nodiscard]] std::uint64_t place(std::uint64_t base, std::int64_t offset) const {
    return (base + static_cast<std::uint64_t>(offset)) & platform_.address_mask;
  }
  [[nodiscard]] bool program_counter(const CompactRule& rule, const Frontier& at, std::uint64_t cfa,
                                     std::uint64_t& pc) {
    if (rule.pc == Place::kLink) {
      if (!at.has_link) return false;
      pc = at.link;
    } else if (!reader_.read(place(cfa, rule.pc_offset), pc)) {
      return false;
    }
    pc = platform_.code_address(pc);
    return true;
  }
  [[nodiscard]] bool frame_pointer(const CompactRule& rule, const Frontier& at, std::uint64_t cfa,
                                   Frontier& next) {
    next.fp = at.fp;
    next.has_fp = at.has_fp && rule.fp != Place::kLost;
    if (rule.fp != Place::kSaved) return true;
    const std::uint64_t slot = place(cfa, rule.fp_offset);
    // Popped already, or not pushed yet, though the rule does not say so: see step.cpp.
    const auto is_below = [slot](std::uint64_t sp) { return slot < sp && sp - slot < 4096; };
    if (at.has_fp && ((at.exact && is_below(at.sp)) || is_below(leaf_sp_))) return true;
    next.has_fp = true;
    return reader_.read(slot, next.fp);
  }
  // Linux's call_on_irqstack: see full_walk.cpp.
  void follow_link(std::uint64_t& sp) {
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

  const Platform& platform_;
  PieceReader reader_;
  std::uint64_t leaf_sp_;
  const std::vector<wire::MemoryPiece>& pieces_;
  bool has_links_ = false;
};

}  // namespace

FastWalk::FastWalk(RuleSources& sources) : sources_(sources), cache_(kCacheSlots) {}

void FastWalk::forget() { cache_.assign(kCacheSlots, {}); }

const CompactRule& FastWalk::rule_at(CodeAddress at) {
  // Code addresses differ in their low bits; Fibonacci hashing spreads those of all images.
  const std::uint64_t key = at.key();
  Slot& slot = cache_[key * 0x9e3779b97f4a7c15u >> 51 & (kCacheSlots - 1)];
  if (slot.key == key && slot.used) {
    ++hits_;
    return slot.rule;
  }
  ++misses_;
  slot = {key, true, sources_.compact_at(at)};
  return slot.rule;
}

bool FastWalk::walk(const wire::Capture& capture, std::size_t max_frames, Stack& stack) {
  const Platform& platform = sources_.platform();
  const wire::RegisterRoles& roles = platform.roles;
  const wire::Registers& registers = capture.registers;
  Frontier at{.pc = registers.get(roles.pc),
              .sp = registers.get(roles.sp),
              .fp = registers.get(roles.fp),
              .has_fp = registers.has(roles.fp)};
  if (roles.link != wire::RegisterRoles::kNone && registers.has(roles.link)) {
    at.link = registers.get(roles.link);
    at.has_link = true;
  }
  Stepper stepper(capture, platform);
  const auto end = [&](StopReason reason) {
    stack.stop = reason;
    stack.stopped_at = {at.pc};
    return true;
  };
  for (;;) {
    const CompactRule& rule = rule_at({{at.pc}, at.exact});
    if (rule.kind == Kind::kEnd || ends_here(rule, at)) {
      stack.frames.back().exact |= sources_.starts_stack({at.pc});
      return end(StopReason::kEndOfStack);
    }
    if (rule.kind == Kind::kUser) return end(StopReason::kUserMode);
    if (rule.kind == Kind::kNone || rule.kind == Kind::kSlow || stack.frames.size() >= max_frames)
      return false;
    const Outcome outcome = stepper.step(rule, at);
    if (outcome == Outcome::kGiveUp) return false;
    if (outcome == Outcome::kUserMode) return end(StopReason::kUserMode);
    if (rule.kind == Kind::kFrame)
      for (Frame& frame : stack.frames) frame.kind = FrameKind::kInterrupt;
    stack.frames.push_back({.address = {at.pc}, .exact = at.exact, .source = rule.source});
  }
}

}  // namespace ringside::unwind
