#include "symbols/nm/nm_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/split.h"

namespace ringside::symbols {
namespace {

constexpr std::size_t kMaxFields = 5;

struct Fields {
  std::array<std::string_view, kMaxFields> text;
  std::size_t count = 0;
};

// The words of a line; what is past the last field is left out.
Fields fields_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  Fields fields;
  while (fields.count < kMaxFields) {
    const std::string_view word = take_word(line, kBlank);
    if (word.empty()) break;
    fields.text[fields.count++] = word;
  }
  return fields;
}

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

// False for a line that is none of the forms.
bool read_symbol(const Fields& fields, ListedSymbol& symbol) {
  std::uint64_t ignored = 0;
  if (fields.count < 3 || !read_address(fields.text[0], symbol.address.value)) return false;
  // A name may be one letter, so that the type is searched for first where most texts have it.
  const std::size_t type = is_type(fields.text[1]) ? 1 : 2;
  if (type + 1 >= fields.count || !is_type(fields.text[type])) return false;
  if (type == 2 && !read_address(fields.text[1], ignored)) return false;
  symbol.type = fields.text[type][0];
  symbol.name = fields.text[type + 1];
  if (type + 2 < fields.count) symbol.module = without_brackets(fields.text[type + 2]);
  return true;
}

}  // namespace

Result<SymbolList> parse_nm_text(std::string text, const std::string& file_name) {
  SymbolList list;
  list.text = std::make_shared<const std::string>(std::move(text));
  std::string_view rest = *list.text;
  bool all_zero = true;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const Fields fields = fields_of(take_line(rest));
    // "U name", "w name": not defined here.
    if (fields.count == 0 || (fields.count == 2 && is_type(fields.text[0]))) continue;
    ListedSymbol symbol;
    if (!read_symbol(fields, symbol))
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
