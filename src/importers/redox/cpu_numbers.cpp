#include "importers/redox/cpu_numbers.h"

#include <unordered_map>

#include "base/whole_number.h"

namespace ringside::importers::redox {
namespace {

constexpr std::uint16_t kMostCpus = 4096;  // a larger number is of something else

std::string_view digits_at_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of("0123456789");
  return last == std::string_view::npos ? text : text.substr(last + 1);
}

}  // namespace

std::optional<VcpuId> cpu_number_of(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  std::string_view digits = digits_at_end(name);
  for (std::size_t dot = name.rfind('.'); digits.empty() && dot != std::string_view::npos;
       dot = name.rfind('.')) {
    name = name.substr(0, dot);
    digits = digits_at_end(name);
  }
  const auto number = whole_number<std::uint16_t>(digits);
  if (!number || *number >= kMostCpus) return std::nullopt;
  return VcpuId{*number};
}

Result<std::vector<VcpuId>> cpu_numbers(std::span<const Input> inputs) {
  std::vector<VcpuId> numbers;
  std::unordered_map<std::uint16_t, std::size_t> owners;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const VcpuId number =
        cpu_number_of(inputs[i].name).value_or(VcpuId{static_cast<std::uint16_t>(i)});
    const auto [owner, is_new] = owners.try_emplace(number.value, i);
    if (!is_new)
      return fail(ErrorCode::kUsage,
                  "{} and {} are both the ring of CPU {}, which the number at the end of a file's "
                  "name says, or else its place among the files",
                  inputs[owner->second].name, inputs[i].name, number.value);
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace ringside::importers::redox
