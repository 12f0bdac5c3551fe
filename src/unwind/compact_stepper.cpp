#include "unwind/compact_stepper.h"

#include <algorithm>
#include <optional>

#include "arch/arch_info.h"
#include "unwind/x86/interrupt_frame.h"

namespace ringside::unwind {
namespace {

using Kind = CompactRule::Kind;
using Place = CompactRule::Place;

constexpr std::size_t kCacheLine = 64;

template <class Registers>
Frontier frontier_at(const Registers& registers, const arch::RegisterRoles& roles) {
  Frontier at{.pc = registers.get(roles.pc),
              .sp = registers.get(roles.sp),
              .fp = registers.get(roles.fp),
              .has_fp = registers.has(roles.fp)};
  if (roles.link == arch::RegisterRoles::kNone || !registers.has(roles.link)) return at;
  at.link = registers.get(roles.link);
  at.has_link = true;
  return at;
}

}  // namespace

Frontier frontier_of(const wire::Capture& capture, const arch::ArchInfo& platform) {
  return frontier_at(capture.registers, platform.roles);
}

Frontier frontier_of(const MachineState& state) {
  Frontier at = frontier_at(state, state.platform->roles);
  at.exact = state.exact;
  return at;
}

void CompactStepper::PieceReader::prefetch_from(std::uint64_t address) {
  if (address - start_ >= places_ && !find(address)) return;
  const std::uint64_t offset = address - start_;
  const std::uint64_t end = std::min<std::uint64_t>(places_, offset + kAhead);
  for (std::uint64_t at = offset; at < end; at += kCacheLine) __builtin_prefetch(data_ + at);
}

bool CompactStepper::PieceReader::find(std::uint64_t address) {
  for (const wire::MemoryPiece& piece : capture_.pieces) {
    const std::uint64_t offset = address - piece.address.value;
    if (!piece.is_memory() || offset >= piece.size || piece.size - offset < word_) continue;
    start_ = piece.address.value;
    places_ = piece.size - word_ + 1;
    data_ = capture_.bytes.data() + piece.offset;
    return true;
  }
  return false;
}

CompactStepper::CompactStepper(const wire::Capture& capture, const arch::ArchInfo& platform,
                               const elf::ImageMap& images)
    : platform_(platform),
      images_(images),
      capture_(capture),
      mask_(platform.address_mask()),
      misaligned_(platform.roles.stack_alignment - 1u),
      reader_(capture, platform.roles.pointer_size),
      leaf_sp_(capture.registers.get(platform.roles.sp)) {
  std::uint64_t last = 0;
  for (const wire::MemoryPiece& piece : capture.pieces) {
    if (piece.why != wire::PieceKind::kStackLink) continue;
    first_link_ = std::min(first_link_, piece.address.value);
    last = std::max(last, piece.address.value);
  }
  if (first_link_ <= last) links_ = last + platform.roles.pointer_size - first_link_;
}

CompactStepper::Outcome CompactStepper::step(const CompactRule& rule, Frontier& at) {
  if (at.sp - first_link_ <= links_ && !rule.knows_links) follow_link(at.sp);
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
  if (pc == 0 && rule.kind == Kind::kCall) {
    at.sp = cfa;
    return Outcome::kNoCaller;
  }
  std::uint64_t sp = cfa;
  if (rule.sp == Place::kSaved && !reader_.read(place(cfa, rule.sp_offset), sp))
    return Outcome::kGiveUp;
  if (!frame_pointer(rule, cfa, at)) return Outcome::kGiveUp;
  at.has_link = rule.link == Place::kSaved;
  if (at.has_link && !reader_.read(place(cfa, rule.link_offset), at.link)) return Outcome::kGiveUp;
  const bool moves = rule.kind == Kind::kFrame || switches || sp > at.sp ||
                     (sp == at.sp && rule.pc == Place::kLink);
  const bool is_aligned = rule.kind == Kind::kFrame || (sp & misaligned_) == 0;
  if (!moves || pc == 0 || !is_aligned) return Outcome::kGiveUp;
  reader_.prefetch_ahead_of(sp);
  at.pc = pc;
  at.sp = sp;
  at.exact = rule.kind == Kind::kFrame;
  return Outcome::kStep;
}

bool CompactStepper::frame_pointer(const CompactRule& rule, std::uint64_t cfa, Frontier& at) {
  if (rule.fp == Place::kLost) at.has_fp = false;
  if (rule.fp != Place::kSaved) return true;
  const std::uint64_t slot = place(cfa, rule.fp_offset);
  const bool is_pushing = rule.kind == Kind::kFrame &&
                          platform_.roles.link == arch::RegisterRoles::kNone &&
                          is_below(slot, leaf_sp_);
  if (at.has_fp && ((at.exact && is_below(slot, at.sp)) || is_pushing)) return true;
  at.has_fp = true;
  return reader_.read(slot, at.fp);
}

bool CompactStepper::is_hardware_frame(GuestVirt at) {
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
void CompactStepper::follow_link(std::uint64_t& sp) {
  for (const wire::MemoryPiece& piece : capture_.pieces) {
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

}  // namespace ringside::unwind
