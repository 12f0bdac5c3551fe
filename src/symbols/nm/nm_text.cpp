#include "symbols/nm/nm_text.h"

#include <algorithm>
#include <charconv>

#include "base/split.h"

namespace ringside::symbols {
namespace {

constexpr std::string_view kBlank = " \t";

bool read_address(std::string_view word, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
  return error == std::errc() && end == word.data() + word.size();
}

bool is_type(std::string_view word) {
  const char c = word.size() == 1 ? word[0] : '\0';
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '?' || c == '-';
}

std::string_view without_brackets(std::string_view word) {
  const bool bracketed = word.size() > 2 && word.front() == '[' && word.back() == ']';
  return bracketed ? word.substr(1, word.size() - 2) : std::string_view();
}

// Takes off a name what is behind it: the module, behind a tab as the kernel writes it, or `nm
// -l`'s place in the source. Behind a blank a module is only where that is the name's only one:
// demangled names have blanks, and may end in brackets.
std::string_view take_module(std::string_view& name) {
  std::size_t end = name.find('\t');
  if (end == std::string_view::npos) {
    end = name.find(' ');
    if (end == std::string_view::npos || name.find(' ', end + 1) != std::string_view::npos ||
        without_brackets(name.substr(end + 1)).empty())
      return {};
  }
  std::string_view rest = name.substr(end);
  name = name.substr(0, end);
  return without_brackets(take_word(rest, kBlank));
}

// False for a line that is none of the forms.
bool read_symbol(std::string_view line, ListedSymbol& symbol) {
  if (!read_address(take_word(line, kBlank), symbol.address.value)) return false;
  std::string_view type = take_word(line, kBlank);
  if (!is_type(type)) {
    if (!read_address(type, symbol.size)) return false;
    type = take_word(line, kBlank);
    if (!is_type(type)) return false;
  }
  symbol.type = type[0];
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  symbol.name = line.substr(0, line.find_last_not_of(kBlank) + 1);
  if (symbol.name.empty()) return false;
  symbol.module = take_module(symbol.name);
  return true;
}

// "U name", "w name": a symbol that is not defined here.
bool is_undefined(std::string_view line) {
  const std::string_view word = take_word(line, kBlank);
  std::uint64_t ignored = 0;
  return is_type(word) && !read_address(word, ignored);
}

}  // namespace

Result<SymbolList> parse_nm_text(std::string text, const std::string& file_name) {
  SymbolList list;
  list.text = std::make_shared<const std::string>(std::move(text));
  std::string_view rest = *list.text;
  bool all_zero = true;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = take_line(rest);
    if (line.find_first_not_of(kBlank) == std::string_view::npos || is_undefined(line)) continue;
    ListedSymbol symbol;
    if (!read_symbol(line, symbol))
      return fail(ErrorCode::kFormat, "{}: line {} is not \"address type name\"", file_name,
                  number);
    all_zero = all_zero && symbol.address.value == 0;
    list.symbols.push_back(symbol);
  }
  if (list.symbols.empty()) return fail(ErrorCode::kFormat, "{} has no symbols", file_name);
  if (all_zero)
    return fail(ErrorCode::kFormat,
                "{}: all addresses are 0, as the kernel shows them to users without privilege; "
                "read /proc/kallsyms as root, after \"sysctl kernel.kptr_restrict=0\" if need be",
                file_name);
  std::stable_sort(list.symbols.begin(), list.symbols.end(),
                   [](const auto& a, const auto& b) { return a.address < b.address; });
  return list;
}

}  // namespace ringside::symbols
