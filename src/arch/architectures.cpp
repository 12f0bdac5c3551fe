#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::arch {
namespace {

constexpr const ArchInfo* kArchitectures[] = {&kX86_64Info, &kI386Info, &kAArch64Info,
                                              &kRiscv64Info};
constexpr ArchInfo kUnknown;

static_assert(std::size(kArchitectures) == static_cast<std::size_t>(kLastArch));

template <class Predicate>
Arch find(Predicate is_it) {
  const auto found = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                  [&](const ArchInfo* info) { return is_it(*info); });
  return found == std::end(kArchitectures) ? Arch::kUnknown : (*found)->id;
}

}  // namespace

std::span<const ArchInfo* const> architectures() { return kArchitectures; }

const ArchInfo& info_of(Arch arch) {
  if (arch == Arch::kUnknown || arch > kLastArch) return kUnknown;
  return *kArchitectures[static_cast<std::size_t>(arch) - 1];
}

const ArchInfo& info_of(Arch arch, std::optional<std::uint8_t> level) {
  const ArchInfo& usual = info_of(arch);
  if (!level || *level >= usual.at_level.size()) return usual;
  const ArchInfo* const other = usual.at_level[*level];
  return other != nullptr ? *other : usual;
}

const ArchInfo* find_info(Arch arch, std::optional<std::uint8_t> level) {
  const ArchInfo& info = info_of(arch, level);
  return info.id == Arch::kUnknown ? nullptr : &info;
}

Arch arch_named(std::string_view name) {
  return find([name](const ArchInfo& info) { return info.name == name; });
}

Arch arch_of_elf(std::uint16_t machine, bool is_64_bit) {
  return find([=](const ArchInfo& info) {
    return info.elf_machine == machine && info.is_64_bit() == is_64_bit;
  });
}

}  // namespace ringside::arch
