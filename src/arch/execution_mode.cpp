#include "arch/execution_mode.h"

#include "arch/arch_info.h"

namespace ringside::arch {

PrivilegeLevel privilege_level_of(Arch arch, const Registers& registers) {
  const auto level = info_of(arch).privilege_level;
  return level != nullptr ? level(registers) : PrivilegeLevel::kUnknown;
}

std::optional<std::uint8_t> running_level(Arch arch, const Registers& registers) {
  const auto level = info_of(arch).running_level;
  return level != nullptr ? level(registers) : std::nullopt;
}

std::optional<std::uint64_t> user_root(Arch arch, const Registers& registers) {
  const PageTableRoot& root = info_of(arch).user_root;
  if (!registers.has(root.reg)) return std::nullopt;
  return (registers.get(root.reg) & root.mask) << root.shift;
}

Registers with_user_root(Arch arch, Registers registers, GuestPhys root) {
  const PageTableRoot& place = info_of(arch).user_root;
  if (place.reg == kNoRegister) return registers;
  const std::uint64_t kept = registers.get(place.reg) & place.keeps;
  registers.set(place.reg, kept | root.value >> place.shift);
  return registers;
}

}  // namespace ringside::arch
