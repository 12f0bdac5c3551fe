#include "annotation/similar_names.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

namespace ringside::annotation {
namespace {

constexpr std::size_t kMost = 5;
constexpr std::size_t kLongest = 100;  // of names that are compared letter by letter

// The letters to insert, remove or replace (Levenshtein 1966).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

// How far a name is from what was asked for; nothing: too far.
std::optional<std::size_t> difference(std::string_view asked, std::string_view name) {
  if (asked.size() > kLongest || name.size() > kLongest) return std::nullopt;
  const bool contains = asked.size() > 2 && (name.find(asked) != std::string_view::npos ||
                                             asked.find(name) != std::string_view::npos);
  const std::size_t edits = distance(asked, name);
  if (contains) return std::min<std::size_t>(edits, 2);
  return edits <= 1 + asked.size() / 4 ? std::optional(edits) : std::nullopt;
}

}  // namespace

std::vector<std::string> similar_names(std::string_view asked,
                                       const std::map<std::string, std::uint64_t>& names) {
  std::vector<std::tuple<std::size_t, std::uint64_t, std::string>> found;
  for (const auto& [name, weight] : names)
    if (const auto edits = difference(asked, name)) found.emplace_back(*edits, ~weight, name);
  std::sort(found.begin(), found.end());
  std::vector<std::string> best;
  for (const auto& [edits, weight, name] : found)
    if (best.size() < kMost) best.push_back(name);
  return best;
}

}  // namespace ringside::annotation
