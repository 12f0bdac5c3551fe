#include "symbols/asterinas_name.h"

#include <algorithm>

#include "symbols/shorten.h"

namespace ringside::symbols {
namespace {

// Without what stands between `open` and `close`, nested or not.
std::string without_brackets(std::string_view text, char open, char close) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == open)
      ++depth;
    else if (c == close && depth > 0)
      --depth;
    else if (depth == 0)
      out += c;
  }
  return out;
}

// Without each "::{" up to the next "}".
std::string without_braces(std::string text) {
  for (std::size_t at = text.find("::{"); at != std::string::npos; at = text.find("::{", at)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos) break;
    text.erase(at, end + 1 - at);
  }
  return text;
}

}  // namespace

std::string asterinas_name(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (name.starts_with(kAnonymous)) return asterinas_name(name.substr(kAnonymous.size()));
  // Without generics alone "<Task as Drop>::drop" would be "::drop": it is shortened first.
  std::string clean = without_braces(without_brackets(shorten(name), '<', '>'));
  clean.resize(std::min(clean.find(' '), clean.size()));
  clean.resize(std::min(clean.find('(', 1), clean.size()));
  return clean.empty() ? std::string(name) : clean;
}

}  // namespace ringside::symbols
