#include "unwind/orc/entry.h"

#include <array>

#include "arch/registers.h"

namespace ringside::unwind::orc {
namespace {

using namespace arch::x86_64;
using Kind = RegisterRule::Kind;

// struct pt_regs (arch/x86/include/asm/ptrace.h): the order of pushes in entry code since 4.0, in
// words. The last five are what hardware pushes.
constexpr std::array<std::uint8_t, 15> kPtRegs = {kR15, kR14, kR13, kR12, kRbp, kRbx, kR11, kR10,
                                                  kR9,  kR8,  kRax, kRcx, kRdx, kRsi, kRdi};
constexpr std::int64_t kIretFrame = 16 * 8;  // behind orig_ax
constexpr std::int64_t kRspInIretFrame = 3 * 8;

Type type_of(std::uint64_t type, Format format, bool end) {
  if (format == Format::kTypes)
    return type <= static_cast<std::uint64_t>(Type::kPartialRegisters) ? static_cast<Type>(type)
                                                                       : Type::kUndefined;
  if (end) return Type::kEnd;
  constexpr std::array kTypes{Type::kCall, Type::kRegisters, Type::kPartialRegisters,
                              Type::kUndefined};
  return kTypes[type & 3];
}

std::optional<CfaRule> cfa_of(const Entry& entry) {
  using enum CfaRule::Kind;
  switch (entry.sp) {
    case Base::kSp:
      return CfaRule{.kind = kRegisterOffset, .reg = kRsp, .offset = entry.sp_offset};
    case Base::kBp:
      return CfaRule{.kind = kRegisterOffset, .reg = kRbp, .offset = entry.sp_offset};
    case Base::kSpIndirect:  // a stack switch: the old stack pointer lies at the stack pointer
      return CfaRule{.kind = kDereference, .reg = kRsp, .addend = entry.sp_offset};
    case Base::kBpIndirect:
      return CfaRule{.kind = kDereference, .reg = kRbp, .offset = entry.sp_offset};
    // The offset is not used for these.
    case Base::kR10:
      return CfaRule{.kind = kRegisterOffset, .reg = kR10};
    case Base::kR13:
      return CfaRule{.kind = kRegisterOffset, .reg = kR13};
    case Base::kDi:
      return CfaRule{.kind = kRegisterOffset, .reg = kRdi};
    case Base::kDx:
      return CfaRule{.kind = kRegisterOffset, .reg = kRdx};
    case Base::kUndefined:
    case Base::kPreviousSp:
      break;
  }
  return std::nullopt;
}

RegisterRule saved_at(std::int64_t offset) { return {.kind = Kind::kOffset, .offset = offset}; }

void set_registers(const Entry& entry, Rule& rule) {
  const bool full = entry.type == Type::kRegisters;
  const std::int64_t frame = full ? kIretFrame : 0;
  rule.registers[kRip] = saved_at(frame);
  rule.registers[kRsp] = saved_at(frame + kRspInIretFrame);
  rule.signal_frame = true;
  for (std::size_t i = 0; i < kPtRegs.size(); ++i)
    rule.registers[kPtRegs[i]] =
        full ? saved_at(static_cast<std::int64_t>(i) * 8) : RegisterRule{.kind = Kind::kSame};
}

}  // namespace

Entry decode(std::uint64_t raw, Format format) {
  const std::uint64_t flags = raw >> 32;
  const bool end = (format == Format::kEndBit && (flags >> 10 & 1) != 0) ||
                   (format == Format::kSignalAndEndBits && (flags >> 11 & 1) != 0);
  const bool signal = (format == Format::kSignalAndEndBits && (flags >> 10 & 1) != 0) ||
                      (format == Format::kTypes && (flags >> 11 & 1) != 0);
  const auto base = [](std::uint64_t number) {
    return number <= static_cast<std::uint64_t>(Base::kSpIndirect) ? static_cast<Base>(number)
                                                                   : Base::kUndefined;
  };
  return {.sp_offset = static_cast<std::int16_t>(raw & 0xffff),
          .bp_offset = static_cast<std::int16_t>(raw >> 16 & 0xffff),
          .sp = base(flags & 15),
          .bp = base(flags >> 4 & 15),
          .type = type_of(flags >> 8 & (format == Format::kTypes ? 7 : 3), format, end),
          .signal = signal};
}

std::optional<Rule> rule_of(const Entry& entry) {
  Rule rule{.return_register = kRip, .source = FrameSource::kOrc};
  if (entry.type == Type::kEnd) {
    rule.ends = true;
    return rule;
  }
  const auto cfa = cfa_of(entry);
  if (!cfa || entry.type == Type::kUndefined) return std::nullopt;
  rule.cfa = *cfa;
  if (entry.type == Type::kCall) {
    rule.registers[kRip] = saved_at(-8);
    rule.registers[kRsp] = {.kind = Kind::kValOffset};
    rule.registers[kRbp] = {.kind = Kind::kSame};
    rule.signal_frame = entry.signal;
  } else {
    set_registers(entry, rule);
  }
  if (entry.bp == Base::kPreviousSp) rule.registers[kRbp] = saved_at(entry.bp_offset);
  if (entry.bp == Base::kBp)
    rule.registers[kRbp] = {.kind = Kind::kAtRegister, .reg = kRbp, .offset = entry.bp_offset};
  return rule;
}

}  // namespace ringside::unwind::orc
