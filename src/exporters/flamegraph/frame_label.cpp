#include "exporters/flamegraph/frame_label.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ringside::exporters {
namespace {

constexpr std::string_view kCut = "\xe2\x80\xa6";  // one character
constexpr std::string_view kScope = "::";
constexpr std::size_t kShortest = 4;  // characters of a name that is cut

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

// The first characters, "…" included where it was cut.
std::string cut_end(std::string_view text, std::size_t room) {
  if (length_of(text) <= room) return std::string(text);
  if (room == 0) return {};
  std::size_t end = 0;
  for (std::size_t kept = 0; end < text.size(); ++end)
    if (starts_character(text[end]) && kept++ == room - 1) break;
  return std::string(text.substr(0, end)) + std::string(kCut);
}

// The length of "operator" with a symbol that looks like brackets at `at`, or 0.
std::size_t operator_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  constexpr std::array<std::string_view, 12> kSymbols = {"<=>", "<<=", ">>=", "->*", "<<", ">>",
                                                         "<=",  ">=",  "->",  "()",  "<",  ">"};
  if (!text.substr(at).starts_with(kWord)) return 0;
  for (const std::string_view symbol : kSymbols)
    if (text.substr(at + kWord.size()).starts_with(symbol)) return kWord.size() + symbol.size();
  return 0;
}

// Change of the number of open brackets by the character at `at`.
int nesting_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '<' || c == '(' || c == '[' || c == '{') return 1;
  if (c == '>') return at > 0 && text[at - 1] == '-' ? 0 : -1;
  return c == ')' || c == ']' || c == '}' ? -1 : 0;
}

// The position behind the bracket that closes the one at `start`; 0 if none does.
std::size_t closing(std::string_view text, std::size_t start) {
  int open = 0;
  for (std::size_t i = start; i < text.size(); ++i) {
    if (const std::size_t length = operator_at(text, i); length != 0) {
      i += length - 1;
      continue;
    }
    open += nesting_at(text, i);
    if (open == 0) return text[i] == (text[start] == '<' ? '>' : ')') ? i + 1 : 0;
  }
  return 0;
}

// "…" for template arguments and parameters. From a bracket that nothing closes on, the name stays:
// each byte is looked at twice at most.
std::string without_arguments(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t length = operator_at(name, i);
    if (length == 0 && (name[i] == '<' || name[i] == '(')) {
      const std::size_t end = closing(name, i);
      if (end == 0) return out + std::string(name.substr(i));
      const bool is_whole_name = i == 0 && end == name.size();  // "<unknown:0x12>"
      length = end - i;
      if (length > 3 && !is_whole_name) {
        out += name[i];
        out += kCut;
        out += name[end - 1];
        i = end;
        continue;
      }
    }
    length = std::max<std::size_t>(length, 1);
    out += name.substr(i, length);
    i += length;
  }
  return out;
}

// Where the parts of "scope::scope::function(…)" start.
std::vector<std::size_t> parts_of(std::string_view name) {
  std::vector<std::size_t> starts{0};
  int open = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (const std::size_t length = operator_at(name, i); length != 0) {
      i += length - 1;
      continue;
    }
    open += nesting_at(name, i);
    if (open <= 0 && name.substr(i).starts_with(kScope)) starts.push_back(++i + 1);
  }
  return starts;
}

// "call_leaf<…>(…)" of "void call_leaf<…>(…)".
std::string_view without_return_type(std::string_view function) {
  const std::size_t parameters = function.find('(');
  if (parameters == std::string_view::npos) return function;
  const std::size_t space = function.substr(0, parameters).rfind(' ');
  if (space == std::string_view::npos || function.substr(0, space).ends_with("operator"))
    return function;
  return function.substr(space + 1);
}

}  // namespace

std::string frame_label(std::string_view name, std::size_t room) {
  if (length_of(name) <= room) return std::string(name);
  if (room < kShortest) return {};
  const std::string brief = without_arguments(name);
  if (length_of(brief) <= room) return brief;
  const std::vector<std::size_t> parts = parts_of(brief);
  const auto from = [&](std::size_t part) { return std::string_view(brief).substr(parts[part]); };
  std::string cut;
  if (parts.size() > 1) {
    // As many of the last parts as there is room for behind the first.
    const std::string first = brief.substr(0, parts[1]) + std::string(kCut) + std::string(kScope);
    std::size_t best = 0;
    std::size_t length = length_of(first);
    for (std::size_t part = parts.size() - 1; part > 1; --part) {
      length += length_of(from(part).substr(
          0, (part + 1 < parts.size() ? parts[part + 1] : brief.size()) - parts[part]));
      if (length > room) break;
      best = part;
    }
    if (best != 0) return first + std::string(from(best));
    cut = std::string(kCut) + std::string(kScope);
  }
  const std::string_view function = without_return_type(from(parts.size() - 1));
  if (length_of(cut) + length_of(function) <= room) return cut + std::string(function);
  return cut_end(function, room);
}

}  // namespace ringside::exporters
