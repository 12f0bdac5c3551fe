#include "unwind/cfi/program.h"

#include <dwarf.h>

#include <vector>

#include "arch/arch_info.h"

namespace ringside::unwind::cfi {
namespace {

using Kind = RegisterRule::Kind;

// An opcode is in the low six bits, if the high two are none.
constexpr std::uint8_t kHighMask = 0xc0;
constexpr std::uint8_t kLowMask = 0x3f;

constexpr std::size_t kMaxRemembered = 64;

Rule default_rule(const arch::ArchInfo& platform) {
  Rule rule;
  const arch::RegisterRoles& roles = platform.roles;
  for (std::size_t reg = 0; reg < kTrackedRegisters; ++reg)
    if (reg == roles.link || (roles.callee_saved >> reg & 1) != 0)
      rule.registers[reg].kind = Kind::kSame;
  rule.registers[roles.sp] = {.kind = Kind::kValOffset};
  return rule;
}

class Program {
 public:
  Program(const FrameSection& section, const Cie& cie, const arch::ArchInfo& platform)
      : section_(section), cie_(cie), row_(default_rule(platform)) {
    row_.return_register = cie.return_register;
    row_.signal_frame = cie.signal_frame;
  }

  // The initial instructions, which hold for the whole FDE.
  [[nodiscard]] Result<void> run_initial();
  // Runs an FDE's instructions until `advanced` says, before the location moves from one address to
  // another, that it is enough.
  template <class Advanced>
  [[nodiscard]] Result<void> run(const Fde& fde, Advanced advanced);
  [[nodiscard]] const Rule& row() const { return row_; }

 private:
  [[nodiscard]] Result<void> execute(ByteReader& reader);
  [[nodiscard]] Result<void> extended(std::uint8_t opcode, ByteReader& reader);
  [[nodiscard]] Result<void> define_cfa(std::uint8_t opcode, ByteReader& reader);
  [[nodiscard]] Result<ExpressionRef> expression(ByteReader& reader);
  void set(std::uint64_t reg, const RegisterRule& rule) {
    // Registers that are not tracked (xmm, segment registers) do not matter to a stack.
    if (reg < kTrackedRegisters) row_.registers[reg] = rule;
  }
  void restore(std::uint64_t reg) {
    if (reg < kTrackedRegisters) row_.registers[reg] = initial_.registers[reg];
  }
  void advance(std::uint64_t delta) { location_ = location_ + delta * cie_.code_alignment; }
  [[nodiscard]] std::int64_t factored(std::uint64_t offset) const {
    return static_cast<std::int64_t>(offset * static_cast<std::uint64_t>(cie_.data_alignment));
  }

  const FrameSection& section_;
  const Cie& cie_;
  ImageAddr location_;
  Rule row_;
  Rule initial_;
  std::vector<Rule> remembered_;
};

Result<void> Program::run_initial() {
  ByteReader reader(section_.bytes.first(cie_.end));
  RINGSIDE_TRY(reader.skip(cie_.instructions));
  while (!reader.empty()) RINGSIDE_TRY(execute(reader));
  initial_ = row_;
  return {};
}

template <class Advanced>
Result<void> Program::run(const Fde& fde, Advanced advanced) {
  location_ = fde.start;
  ByteReader reader(section_.bytes.first(fde.end));
  RINGSIDE_TRY(reader.skip(fde.instructions));
  while (!reader.empty()) {
    const ImageAddr before = location_;
    RINGSIDE_TRY(execute(reader));
    // Instructions that move the location change nothing else.
    if (location_ != before && advanced(before, location_, row_)) return {};
  }
  (void)advanced(location_, fde.start + fde.length, row_);
  return {};
}

Result<void> Program::execute(ByteReader& reader) {
  RINGSIDE_ASSIGN(const auto opcode, reader.read<std::uint8_t>());
  const std::uint8_t low = opcode & kLowMask;
  switch (opcode & kHighMask) {
    case DW_CFA_advance_loc:
      advance(low);
      return {};
    case DW_CFA_offset: {
      RINGSIDE_ASSIGN(const std::uint64_t offset, reader.read_uleb());
      set(low, {.kind = Kind::kOffset, .offset = factored(offset)});
      return {};
    }
    case DW_CFA_restore:
      restore(low);
      return {};
    default:
      return extended(low, reader);
  }
}

Result<ExpressionRef> Program::expression(ByteReader& reader) {
  RINGSIDE_ASSIGN(const std::uint64_t size, reader.read_uleb());
  const std::size_t offset = reader.offset();
  RINGSIDE_TRY(reader.skip(size));
  return ExpressionRef{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)};
}

Result<void> Program::extended(std::uint8_t opcode, ByteReader& reader) {
  switch (opcode) {
    case DW_CFA_nop:
    case DW_CFA_AARCH64_negate_ra_state:  // arch::ArchInfo::code_address takes every signature off
      return {};
    case DW_CFA_set_loc: {
      RINGSIDE_ASSIGN(location_.value,
                      read_encoded(reader, cie_.fde_encoding, section_.address, cie_.address_size));
      return {};
    }
    case DW_CFA_advance_loc1: {
      RINGSIDE_ASSIGN(const auto delta, reader.read<std::uint8_t>());
      advance(delta);
      return {};
    }
    case DW_CFA_advance_loc2: {
      RINGSIDE_ASSIGN(const auto delta, reader.read<std::uint16_t>());
      advance(delta);
      return {};
    }
    case DW_CFA_advance_loc4: {
      RINGSIDE_ASSIGN(const auto delta, reader.read<std::uint32_t>());
      advance(delta);
      return {};
    }
    case DW_CFA_remember_state:
      if (remembered_.size() >= kMaxRemembered)
        return fail(ErrorCode::kUnsupported, "more than {} remembered states at offset {:#x}",
                    kMaxRemembered, reader.offset());
      remembered_.push_back(row_);
      return {};
    case DW_CFA_restore_state:
      if (remembered_.empty())
        return fail(ErrorCode::kFormat, "no state to restore at offset {:#x}", reader.offset());
      row_ = remembered_.back();
      remembered_.pop_back();
      return {};
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf:
    case DW_CFA_def_cfa_register:
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf:
    case DW_CFA_def_cfa_expression:
      return define_cfa(opcode, reader);
    case DW_CFA_GNU_args_size: {
      RINGSIDE_ASSIGN([[maybe_unused]] const std::uint64_t size, reader.read_uleb());
      return {};
    }
    default:
      break;
  }
  // All others begin with a register.
  RINGSIDE_ASSIGN(const std::uint64_t reg, reader.read_uleb());
  switch (opcode) {
    case DW_CFA_restore_extended:
      restore(reg);
      return {};
    case DW_CFA_undefined:
      set(reg, {.kind = Kind::kUndefined});
      return {};
    case DW_CFA_same_value:
      set(reg, {.kind = Kind::kSame});
      return {};
    case DW_CFA_offset_extended:
    case DW_CFA_val_offset: {
      RINGSIDE_ASSIGN(const std::uint64_t offset, reader.read_uleb());
      set(reg, {.kind = opcode == DW_CFA_val_offset ? Kind::kValOffset : Kind::kOffset,
                .offset = factored(offset)});
      return {};
    }
    case DW_CFA_offset_extended_sf:
    case DW_CFA_val_offset_sf: {
      RINGSIDE_ASSIGN(const std::int64_t offset, reader.read_sleb());
      set(reg, {.kind = opcode == DW_CFA_val_offset_sf ? Kind::kValOffset : Kind::kOffset,
                .offset = factored(static_cast<std::uint64_t>(offset))});
      return {};
    }
    case DW_CFA_GNU_negative_offset_extended: {
      RINGSIDE_ASSIGN(const std::uint64_t offset, reader.read_uleb());
      set(reg, {.kind = Kind::kOffset, .offset = factored(std::uint64_t{0} - offset)});
      return {};
    }
    case DW_CFA_register: {
      RINGSIDE_ASSIGN(const std::uint64_t from, reader.read_uleb());
      set(reg, from < kTrackedRegisters
                   ? RegisterRule{.kind = Kind::kRegister, .reg = static_cast<std::uint8_t>(from)}
                   : RegisterRule{});
      return {};
    }
    case DW_CFA_expression:
    case DW_CFA_val_expression: {
      RINGSIDE_ASSIGN(const ExpressionRef ref, expression(reader));
      set(reg, {.kind = opcode == DW_CFA_expression ? Kind::kExpression : Kind::kValExpression,
                .expression = ref});
      return {};
    }
    default:
      return fail(ErrorCode::kUnsupported, "call-frame instruction {:#x} before offset {:#x}",
                  opcode, reader.offset());
  }
}

Result<void> Program::define_cfa(std::uint8_t opcode, ByteReader& reader) {
  CfaRule& cfa = row_.cfa;
  if (opcode == DW_CFA_def_cfa_expression) {
    RINGSIDE_ASSIGN(const ExpressionRef ref, expression(reader));
    cfa = {.kind = CfaRule::Kind::kExpression, .expression = ref};
    return {};
  }
  if (opcode == DW_CFA_def_cfa || opcode == DW_CFA_def_cfa_sf ||
      opcode == DW_CFA_def_cfa_register) {
    RINGSIDE_ASSIGN(const std::uint64_t reg, reader.read_uleb());
    if (reg >= kTrackedRegisters)
      return fail(ErrorCode::kUnsupported, "CFA on register {} before offset {:#x}", reg,
                  reader.offset());
    cfa.kind = CfaRule::Kind::kRegisterOffset;
    cfa.reg = static_cast<std::uint8_t>(reg);
  }
  if (opcode == DW_CFA_def_cfa || opcode == DW_CFA_def_cfa_offset) {
    RINGSIDE_ASSIGN(const std::uint64_t offset, reader.read_uleb());
    cfa.offset = static_cast<std::int64_t>(offset);
  } else if (opcode == DW_CFA_def_cfa_sf || opcode == DW_CFA_def_cfa_offset_sf) {
    RINGSIDE_ASSIGN(const std::int64_t offset, reader.read_sleb());
    cfa.offset = factored(static_cast<std::uint64_t>(offset));
  }
  return {};
}

}  // namespace

namespace {

Result<Program> started(const FrameSection& section, const Cie& cie,
                        const arch::ArchInfo& platform) {
  if (cie.return_register >= kTrackedRegisters)
    return fail(ErrorCode::kUnsupported, "return register {}", cie.return_register);
  Program program(section, cie, platform);
  RINGSIDE_TRY(program.run_initial());
  return program;
}

}  // namespace

Result<Rule> rule_for(const FrameSection& section, const Cie& cie, const Fde& fde, ImageAddr pc,
                      const arch::ArchInfo& platform) {
  RINGSIDE_ASSIGN(Program program, started(section, cie, platform));
  RINGSIDE_TRY(program.run(fde, [pc](ImageAddr, ImageAddr end, const Rule&) { return pc < end; }));
  return program.row();
}

Result<void> for_each_row(const FrameSection& section, const Cie& cie, const Fde& fde,
                          const arch::ArchInfo& platform,
                          const std::function<void(ImageAddr, const Rule&)>& row) {
  RINGSIDE_ASSIGN(Program program, started(section, cie, platform));
  return program.run(fde, [&row](ImageAddr start, ImageAddr, const Rule& rule) {
    row(start, rule);
    return false;
  });
}

}  // namespace ringside::unwind::cfi
