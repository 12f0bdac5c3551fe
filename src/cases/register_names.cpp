#include "cases/register_names.h"

#include <charconv>

#include "arch/register_names.h"

namespace ringside::cases {

std::string register_name(Arch arch, std::size_t number) {
  std::string name = arch::register_name(arch, number);
  if (!name.empty()) return name;
  return fmt::format("wire{}", number);
}

std::optional<std::uint8_t> register_number(Arch arch, std::string_view name) {
  if (const auto known = arch::register_number(arch, name)) return known;
  constexpr std::string_view kPrefix = "wire";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::uint8_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size() || number >= arch::kRegisterCount)
    return std::nullopt;
  return number;
}

}  // namespace ringside::cases
