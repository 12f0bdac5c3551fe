#include "symbols/shorten.h"

#include <array>

namespace ringside::symbols {
namespace {

constexpr int kMaxDepth = 64;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The length of "operator" and a symbol with angle brackets at the front of `text`, or 0.
std::size_t operator_length(std::string_view text) {
  constexpr std::string_view kWord = "operator";
  constexpr std::array<std::string_view, 9> kSymbols = {"<=>", "<<=", ">>=", "->*", "<<",
                                                        ">>",  "<=",  ">=",  "->"};
  if (!text.starts_with(kWord)) return 0;
  const std::string_view rest = text.substr(kWord.size());
  for (const std::string_view symbol : kSymbols)
    if (rest.starts_with(symbol)) return kWord.size() + symbol.size();
  return rest.starts_with('<') || rest.starts_with('>') ? kWord.size() + 1 : 0;
}

// The position behind the bracket that closes the one at `start`; the end if none does. Inside of
// round brackets '<' and '>' may be comparisons: there they count in pairs only.
std::size_t closing(std::string_view text, std::size_t start) {
  std::string open;
  for (std::size_t i = start; i < text.size(); ++i) {
    if (const std::size_t length = operator_length(text.substr(i)); length != 0) {
      i += length - 1;
      continue;
    }
    const char c = text[i];
    const bool arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if (c == '<' || c == '{' || c == '(' || c == '[') {
      open += c;
    } else if (c == '>' && !arrow) {
      if (open.back() == '<') open.pop_back();
    } else if (c == '}' || c == ')' || c == ']') {
      while (open.size() > 1 && open.back() == '<') open.pop_back();
      open.pop_back();
    }
    if (open.empty()) return i + 1;
  }
  return text.size();
}

// Where `word` stands outside of all brackets, or npos.
std::size_t find_outside(std::string_view text, std::string_view word) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(word)) return i;
    if (text[i] == '<' || text[i] == '{' || text[i] == '(' || text[i] == '[')
      i = closing(text, i) - 1;
  }
  return std::string_view::npos;
}

// The type that a Rust impl is for: of "T as Trait" and "impl Trait for T".
std::string_view self_type(std::string_view inside) {
  if (inside.starts_with("impl ")) {
    inside.remove_prefix(5);
    const std::size_t at = find_outside(inside, " for ");
    return at == std::string_view::npos ? inside : inside.substr(at + 5);
  }
  return inside.substr(0, find_outside(inside, " as "));
}

std::string shorten_at(std::string_view name, int depth) {
  if (depth > kMaxDepth) return std::string(name);
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    if (const std::size_t length = operator_length(name.substr(i));
        length != 0 && (out.empty() || !is_word(out.back()))) {
      out.append(name.substr(i, length));
      i += length;
      continue;
    }
    const char c = name[i];
    if (c == '{' || c == '(') {
      const std::size_t end = closing(name, i);
      out.append(name.substr(i, end - i));
      i = end;
    } else if (c == '<') {
      const std::size_t end = closing(name, i);
      const std::string_view inside = name.substr(i + 1, end - i - 2);
      const bool opens_path = out.empty() || (!is_word(out.back()) && out.back() != ':' &&
                                              out.back() != '}' && out.back() != ')');
      if (end < name.size() && (opens_path || inside.starts_with("impl ")))
        out += shorten_at(self_type(inside), depth + 1);
      else if (out.ends_with("::"))
        out.resize(out.size() - 2);
      i = end;
    } else {
      out += c;
      ++i;
    }
  }
  return out;
}

}  // namespace

std::string shorten(std::string_view name) {
  std::string out = shorten_at(name, 0);
  return out.empty() ? std::string(name) : out;
}

}  // namespace ringside::symbols
