#include "cli/verbs/call_graph_mode.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/split.h"

namespace ringside::cli {
namespace {

struct Refused {
  std::string_view word;
  std::string_view answer;
};

constexpr std::array<std::string_view, 6> kWords = {"graph", "caller",   "callee",
                                                    "none",  "function", "percent"};
constexpr std::array<Refused, 7> kRefused = {
    {{"flat", "'ringside export --format folded' has one line for each stack"},
     {"folded", "'ringside export --format folded' has one line for each stack"},
     {"fractal", "shares in a tree are of all samples, as perf's graph has them"},
     {"address", "'--show-addresses' parts calls by address"},
     {"period", "the column period has weights"},
     {"count", "the column sample has counts"},
     {"branch", "samples have no branch records"}}};

const Refused* refused(std::string_view word) {
  const auto it = std::find_if(kRefused.begin(), kRefused.end(),
                               [&](const Refused& each) { return each.word == word; });
  return it == kRefused.end() ? nullptr : &*it;
}

std::optional<double> number_of(std::string_view word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = error == std::errc() && end == word.data() + word.size();
  return is_number && std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

// The first number is the share, the second how many nodes stand beside each other.
Result<void> take_number(double number, const std::string& text, bool& has_limit,
                         CallGraphMode& mode) {
  if (!mode.minimum_percent) {
    if (number > 100) return fail(ErrorCode::kUsage, "-g {}: a share is 100 at most", text);
    mode.minimum_percent = number;
    return {};
  }
  constexpr double kMostSiblings = 1e9;
  if (has_limit || number != std::floor(number) || number > kMostSiblings)
    return fail(ErrorCode::kUsage,
                "-g {}: give a share in percent, and then how many calls to show at each place",
                text);
  has_limit = true;
  mode.most_siblings = static_cast<std::uint32_t>(number);
  return {};
}

}  // namespace

bool is_call_graph_mode(std::string_view word) {
  const std::string first = split(word, ',').front();
  return refused(first) != nullptr ||
         std::find(kWords.begin(), kWords.end(), first) != kWords.end() ||
         number_of(first).has_value();
}

Result<CallGraphMode> parse_call_graph_mode(const std::string& text) {
  CallGraphMode mode;
  bool has_limit = false;
  for (const std::string& word : split(text, ',')) {
    if (word == "none")
      mode.is_wanted = false;
    else if (word == "caller" || word == "callee")
      mode.callees = word == "caller";
    else if (const auto number = number_of(word))
      RINGSIDE_TRY(take_number(*number, text, has_limit, mode));
    else if (const Refused* const answer = refused(word))
      return fail(ErrorCode::kUsage, "-g {}: {}", text, answer->answer);
    else if (std::find(kWords.begin(), kWords.end(), word) == kWords.end())
      return fail(ErrorCode::kUsage,
                  "-g {}: give caller, callee or none, then a share in percent, as in caller,0.5",
                  text);
  }
  return mode;
}

}  // namespace ringside::cli
