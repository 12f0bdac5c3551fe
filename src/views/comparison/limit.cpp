#include "views/comparison/limit.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "profile/profile.h"
#include "views/comparison/build_names.h"

namespace ringside::views {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

// The colon behind a kind or an image: none of C++'s and Rust's "::".
std::size_t place_end(std::string_view name) {
  for (std::size_t at = name.find(':'); at != std::string_view::npos; at = name.find(':', at + 2))
    if (at + 1 >= name.size() || name[at + 1] != ':') return at;
  return std::string_view::npos;
}

bool is_of_place(const ComparedFunction& function, std::string_view place) {
  return place.empty() || place == profile::name_of(function.kind) || place == function.image;
}

// Without the parameters of C++, which are in the last round brackets: "f" of "f(int (*)(int))",
// "f() const". The name itself where there are none.
std::string_view plain(std::string_view name) {
  const std::size_t end = name.rfind(')');
  if (end == std::string_view::npos) return name;
  int open = 0;
  for (std::size_t at = end + 1; at-- > 0;) {
    open += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
    if (open == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

}  // namespace

Result<ChangeLimit> parse_limit(std::string_view text, bool has_name) {
  const auto wrong = [&] {
    return fail(ErrorCode::kUsage, "'{}' is no limit of a change: give one such as '{}'", text,
                has_name ? "kernel:vfs_write > +2%" : "> 1%");
  };
  ChangeLimit limit;
  limit.text = trimmed(text);
  const std::size_t at = text.find_last_of("<>");
  if (at == std::string_view::npos) return wrong();
  limit.is_growth = text[at] == '>';
  std::string_view number = trimmed(text.substr(at + 1));
  if (!number.ends_with('%')) return wrong();
  number = trimmed(number.substr(0, number.size() - 1));
  if (number.starts_with('+')) number.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), limit.points);
  if (error != std::errc() || end != number.data() + number.size() || number.empty() ||
      !(std::abs(limit.points) <= 100))
    return wrong();
  if (limit.is_growth ? limit.points < 0 : limit.points > 0) return wrong();
  const std::string_view whole = trimmed(text.substr(0, at));
  if (whole.empty() == has_name) return wrong();
  limit.whole = name_across_builds(whole);
  std::string_view name = whole;
  if (const std::size_t colon = place_end(whole); colon != std::string_view::npos) {
    limit.place = trimmed(whole.substr(0, colon));
    name = trimmed(whole.substr(colon + 1));
    if (name.empty() || limit.place.empty()) return wrong();
  }
  limit.name = name_across_builds(name);
  return limit;
}

std::vector<const ComparedFunction*> functions_of(const Comparison& comparison,
                                                  const ChangeLimit& limit) {
  const auto find = [&](std::string_view place, std::string_view name, bool has_parameters) {
    std::vector<const ComparedFunction*> found;
    for (const ComparedFunction& function : comparison.functions)
      if (is_of_place(function, place) &&
          (has_parameters ? std::string_view(function.name) : plain(function.name)) == name)
        found.push_back(&function);
    return found;
  };
  for (const bool has_parameters : {true, false}) {
    if (auto found = find({}, limit.whole, has_parameters); !found.empty()) return found;
    if (auto found = find(limit.place, limit.name, has_parameters); !found.empty()) return found;
  }
  return {};
}

std::vector<LimitBreach> breaches(const Comparison& comparison,
                                  const std::vector<ChangeLimit>& limits, double chance) {
  std::vector<LimitBreach> found;
  const auto add = [&](const ChangeLimit& limit, const ComparedFunction& function,
                       const ComparedShare& share, double p) {
    if (limit.is_passed_by(share.difference.change))
      found.push_back({&limit, &function, p < chance, p});
  };
  double tests = 0;
  for (const ChangeLimit& limit : limits)
    if (limit.has_name()) tests += static_cast<double>(functions_of(comparison, limit).size());
  for (const ChangeLimit& limit : limits) {
    if (!limit.has_name()) {
      for (const ComparedFunction& function : comparison.functions)
        add(limit, function, function.self, function.self.corrected_p);
      continue;
    }
    for (const ComparedFunction* function : functions_of(comparison, limit))
      add(limit, *function, function->total, std::min(1.0, function->total.difference.p * tests));
  }
  return found;
}

}  // namespace ringside::views
