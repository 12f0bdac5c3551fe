#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "importers/parts/json_reader.h"
#include "recording/records.h"

namespace ringside::importers::json_lines {

// A value of a line, with all that is in it.
struct Item {
  std::string name;  // empty in arrays
  JsonValue::Type type = JsonValue::Type::kNull;
  std::uint64_t bits = 0;  // of a whole number, also of a negative one
  std::string text;
  std::vector<Item> items;  // of an object or array

  // Null: it has none of that name.
  [[nodiscard]] const Item* find(std::string_view member) const;
  // Empty where it has none, or it is no text.
  [[nodiscard]] std::string_view text_of(std::string_view member) const;
  // Nothing where it has none, or it is no whole number.
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view member) const;
  // The number that a text such as "0x1c" is.
  [[nodiscard]] std::optional<std::uint64_t> address(std::string_view member) const;
};
[[nodiscard]] bool is_whole_number(const Item& item);
[[nodiscard]] std::optional<std::uint64_t> address_in(std::string_view text);
// Two digits a byte, as hex_text() writes them. Errors: kFormat for other ones.
[[nodiscard]] Result<std::vector<std::byte>> bytes_in(std::string_view digits);

// The object that a line is. Errors: kFormat for what is none, or has more in it than any line.
[[nodiscard]] Result<Item> parse_line(std::string_view line);

// The place of a word in a list, as an enumerator. Nothing: it is not there.
template <class Enum, class Words>
[[nodiscard]] std::optional<Enum> enumerator(const Words& words, std::string_view word) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == word) return static_cast<Enum>(i);
  return std::nullopt;
}
// The same by name_of(), up to `last`.
template <class Enum>
[[nodiscard]] std::optional<Enum> enumerator_up_to(Enum last, std::string_view word) {
  using recording::name_of;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
    if (name_of(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace ringside::importers::json_lines
