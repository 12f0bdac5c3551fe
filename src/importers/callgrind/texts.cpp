#include "importers/callgrind/texts.h"

#include <algorithm>
#include <charconv>

namespace ringside::importers::callgrind {
namespace {

constexpr std::size_t kMostNumbers = 2 << 20;

}  // namespace

std::uint32_t NumberedNames::id(std::string_view name) {
  if (!name.starts_with('(')) return texts_.id(name);
  std::uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [behind, error] = std::from_chars(name.data() + 1, end, number);
  if (error != std::errc() || behind == end || *behind != ')') return texts_.id(name);
  std::string_view rest(behind + 1, static_cast<std::size_t>(end - behind - 1));
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const Entry* const known = ids_.find(number);
  if (rest.empty()) return known == nullptr ? texts_.id(name) : known->text;
  const std::uint32_t text = texts_.id(rest);
  if (known != nullptr || ids_.size() < kMostNumbers) ids_[ids_.find_or_add(number)].text = text;
  return text;
}

}  // namespace ringside::importers::callgrind
