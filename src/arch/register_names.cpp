#include "arch/register_names.h"

#include <algorithm>

namespace ringside::arch {
namespace {

template <class Predicate>
std::optional<RegisterName> find(Arch arch, Predicate is_it) {
  const auto names = info_of(arch).registers;
  const auto found = std::find_if(names.begin(), names.end(), is_it);
  return found == names.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

bool RegisterName::is_of(std::optional<std::uint8_t> running) const {
  constexpr std::uint8_t kUsual = 1;
  return level == kAnyLevel || level == std::max(running.value_or(kUsual), kUsual);
}

std::optional<RegisterName> known_register(Arch arch, std::string_view name) {
  return find(arch, [name](const RegisterName& row) {
    return row.name == name && row.asked_for != AskedFor::kNever;
  });
}

std::string register_name(Arch arch, std::size_t number) {
  const auto row = find(arch, [number](const RegisterName& r) { return r.id == number; });
  std::string name(row ? row->name : std::string_view());
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

std::optional<std::uint8_t> register_number(Arch arch, std::string_view name) {
  const auto row = find(arch, [&](const RegisterName& r) {
    return !name.empty() && register_name(arch, r.id) == name;
  });
  return row ? std::optional(row->id) : std::nullopt;
}

}  // namespace ringside::arch
