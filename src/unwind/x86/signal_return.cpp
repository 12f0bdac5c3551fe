#include "unwind/x86/signal_return.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arch/arch_info.h"

namespace ringside::unwind::x86 {
namespace {

using Kind = RegisterRule::Kind;

// mov $__NR_rt_sigreturn, %rax; syscall.
constexpr std::array<std::uint8_t, 9> kSignalReturn = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
                                                       0x00, 0x00, 0x0f, 0x05};
// Where its second instruction begins, and where that ends.
constexpr std::size_t kSystemCall = 7;
constexpr std::size_t kEnd = 9;

bool is_signal_return(const elf::ElfFile& file, ImageAddr pc) {
  const Bytes code = file.bytes_at(pc, kSignalReturn.size());
  return std::equal(code.begin(), code.end(), kSignalReturn.begin(), kSignalReturn.end(),
                    [](std::byte a, std::uint8_t b) { return a == std::byte{b}; });
}

// struct sigcontext (arch/x86/include/uapi/asm/sigcontext.h), in a struct ucontext that the stack
// pointer points to once the handler has returned: behind flags, link and stack.
constexpr std::int64_t kContext = 8 + 8 + 24;
constexpr std::array<std::uint8_t, 17> kSaved = {
    arch::x86_64::kR8,  arch::x86_64::kR9,  arch::x86_64::kR10, arch::x86_64::kR11,
    arch::x86_64::kR12, arch::x86_64::kR13, arch::x86_64::kR14, arch::x86_64::kR15,
    arch::x86_64::kRdi, arch::x86_64::kRsi, arch::x86_64::kRbp, arch::x86_64::kRbx,
    arch::x86_64::kRdx, arch::x86_64::kRax, arch::x86_64::kRcx, arch::x86_64::kRsp,
    arch::x86_64::kRip};

}  // namespace

std::optional<Rule> signal_return_rule(const elf::ElfFile& file, ImageAddr pc, PcKind kind,
                                       const arch::ArchInfo& platform) {
  if (platform.id != Arch::kX86_64) return std::nullopt;
  const bool is_there =
      is_signal_return(file, pc) ||
      (kind == PcKind::kExact && is_signal_return(file, {pc.value - kSystemCall})) ||
      (kind == PcKind::kInSystemCall && is_signal_return(file, {pc.value - kEnd}));
  if (!is_there) return std::nullopt;
  Rule rule{.return_register = platform.roles.pc, .signal_frame = true};
  rule.source = FrameSource::kInstructions;
  rule.cfa = {CfaRule::Kind::kRegisterOffset, platform.roles.sp, 0, {}};
  for (std::size_t i = 0; i < kSaved.size(); ++i)
    rule.registers[kSaved[i]] = {.kind = Kind::kOffset,
                                 .offset = kContext + static_cast<std::int64_t>(8 * i)};
  return rule;
}

}  // namespace ringside::unwind::x86
