#include "unwind/compact_rule.h"

#include <limits>

#include "arch/arch_info.h"
#include "unwind/step.h"

namespace ringside::unwind {
namespace {

using Kind = RegisterRule::Kind;
using Place = CompactRule::Place;

// Writes an offset into a narrower field; false where it does not fit.
template <class T>
bool narrow(std::int64_t from, T& into) {
  if (from < std::numeric_limits<T>::min() || from > std::numeric_limits<T>::max()) return false;
  into = static_cast<T>(from);
  return true;
}

bool place(const RegisterRule& rule, Place& where, std::int16_t& offset) {
  switch (rule.kind) {
    case Kind::kUndefined:
      where = Place::kLost;
      return true;
    case Kind::kSame:
      where = Place::kSame;
      return true;
    case Kind::kOffset:
      where = Place::kSaved;
      return narrow(rule.offset, offset);
    default:
      return false;
  }
}

bool base(const CfaRule& cfa, const arch::RegisterRoles& roles, CompactRule& out) {
  if (cfa.kind == CfaRule::Kind::kDereference && cfa.reg == roles.sp && cfa.offset == 0) {
    out.base = CompactRule::Base::kOtherStack;
    return narrow(cfa.addend, out.cfa_offset);
  }
  if (cfa.kind != CfaRule::Kind::kRegisterOffset || !narrow(cfa.offset, out.cfa_offset))
    return false;
  out.base =
      cfa.reg == roles.sp ? CompactRule::Base::kStackPointer : CompactRule::Base::kFramePointer;
  return cfa.reg == roles.sp || cfa.reg == roles.fp;
}

bool program_counter(const Rule& rule, const arch::ArchInfo& platform, CompactRule& out) {
  const RegisterRule& pc = rule.registers[rule.return_register];
  if (!place(pc, out.pc, out.pc_offset)) return false;
  if (out.pc == Place::kSame && rule.return_register == platform.roles.link) out.pc = Place::kLink;
  return out.pc == Place::kSaved || out.pc == Place::kLink;
}

bool fill(const Rule& rule, const arch::ArchInfo& platform, CompactRule& out) {
  const arch::RegisterRoles& roles = platform.roles;
  const RegisterRule& sp = rule.registers[roles.sp];
  if (!base(rule.cfa, roles, out) || !program_counter(rule, platform, out) ||
      !place(rule.registers[roles.fp], out.fp, out.fp_offset))
    return false;
  if (!rule.signal_frame) {
    // Where the stack pointer is not the CFA (a frame-pointer walk that does not know it), a later
    // frame may need another way.
    out.sp = Place::kSame;
    return sp.kind == Kind::kValOffset && sp.offset == 0;
  }
  if (!place(sp, out.sp, out.sp_offset) || out.sp != Place::kSaved || out.pc != Place::kSaved)
    return false;
  if (roles.link != arch::RegisterRoles::kNone &&
      !place(rule.registers[roles.link], out.link, out.link_offset))
    return false;
  const auto status = saved_status(rule, platform);
  out.has_status = status.has_value();
  return !status || narrow(*status, out.status_offset);
}

}  // namespace

CompactRule compact(const Rule& rule, const arch::ArchInfo& platform) {
  CompactRule out{.source = rule.source,
                  .ends_at_zero_fp = rule.ends_at_zero_fp,
                  .knows_links = rule.source == FrameSource::kOrc};
  if (rule.own_code.size != 0) return {.kind = CompactRule::Kind::kSlow, .source = rule.source};
  if (rule.ends && rule.from_user) {
    out.kind = CompactRule::Kind::kUser;
    return out;
  }
  if (rule.ends || (rule.cfa.kind != CfaRule::Kind::kNone &&
                    rule.registers[rule.return_register].kind == Kind::kUndefined)) {
    out.kind = CompactRule::Kind::kEnd;
    return out;
  }
  out.kind = rule.signal_frame ? CompactRule::Kind::kFrame : CompactRule::Kind::kCall;
  if (fill(rule, platform, out)) {
    out.is_plain = out.kind == CompactRule::Kind::kCall && out.pc == Place::kSaved &&
                   out.base != CompactRule::Base::kOtherStack;
    return out;
  }
  return {.kind = CompactRule::Kind::kSlow, .source = rule.source};
}

std::size_t RuleSet::Hash::operator()(const CompactRule& rule) const noexcept {
  constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  std::uint64_t hash = static_cast<std::uint32_t>(rule.cfa_offset);
  for (const std::int64_t part :
       {std::int64_t{rule.pc_offset}, std::int64_t{rule.fp_offset}, std::int64_t{rule.sp_offset},
        static_cast<std::int64_t>(rule.kind) << 4 | static_cast<std::int64_t>(rule.base) << 3 |
            static_cast<std::int64_t>(rule.fp)})
    hash = (hash ^ static_cast<std::uint64_t>(part)) * kMultiplier;
  return hash >> 16;
}

std::optional<std::uint16_t> RuleSet::add(const CompactRule& rule) {
  if (const auto found = numbers_.find(rule); found != numbers_.end()) return found->second;
  if (rules_.size() == kLimit) return std::nullopt;
  const auto number = static_cast<std::uint16_t>(rules_.size());
  rules_.push_back(rule);
  numbers_.emplace(rule, number);
  return number;
}

}  // namespace ringside::unwind
