#include "arch/x86.h"

#include <array>
#include <utility>

namespace ringside::arch {
namespace {

constexpr std::uint64_t kProtectionEnable = 1;
constexpr std::uint64_t kPaging = std::uint64_t{1} << 31;
constexpr std::uint64_t kLongModeActive = 1u << 10;

bool pages(std::uint64_t cr0) { return (cr0 & kProtectionEnable) != 0 && (cr0 & kPaging) != 0; }

}  // namespace

PrivilegeLevel x86_level(const Registers& registers, std::uint8_t cr0, std::uint8_t cs) {
  if (registers.has(cr0) && !pages(registers.get(cr0))) return PrivilegeLevel::kFirmware;
  if (!registers.has(cs)) return PrivilegeLevel::kUnknown;
  return (registers.get(cs) & 3u) == 3 ? PrivilegeLevel::kUser : PrivilegeLevel::kKernel;
}

Registers low_halves(const Registers& registers) {
  constexpr std::array<std::pair<std::uint8_t, std::uint8_t>, 18> kSame{{
      {x86_64::kRax, i386::kEax},
      {x86_64::kRcx, i386::kEcx},
      {x86_64::kRdx, i386::kEdx},
      {x86_64::kRbx, i386::kEbx},
      {x86_64::kRsp, i386::kEsp},
      {x86_64::kRbp, i386::kEbp},
      {x86_64::kRsi, i386::kEsi},
      {x86_64::kRdi, i386::kEdi},
      {x86_64::kRip, i386::kEip},
      {x86_64::kRflags, i386::kEflags},
      {x86_64::kCs, i386::kCs},
      {x86_64::kSs, i386::kSs},
      {x86_64::kFsBase, i386::kFsBase},
      {x86_64::kGsBase, i386::kGsBase},
      {x86_64::kCr0, i386::kCr0},
      {x86_64::kCr2, i386::kCr2},
      {x86_64::kCr3, i386::kCr3},
      {x86_64::kCr4, i386::kCr4},
  }};
  Registers result;
  for (const auto& [from, to] : kSame)
    if (registers.has(from)) result.set(to, registers.get(from) & 0xffffffffu);
  return result;
}

std::optional<Registers> as_i386(const Registers& registers) {
  using namespace x86_64;
  if (!registers.has(kEfer) || !registers.has(kCr0)) return std::nullopt;
  if (!pages(registers.get(kCr0)) || (registers.get(kEfer) & kLongModeActive) != 0)
    return std::nullopt;
  return low_halves(registers);
}

}  // namespace ringside::arch
