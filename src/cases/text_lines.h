#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ringside::cases {

// The words of the lines of a text, without empty lines and what stands behind a '#'.
class TextLines {
 public:
  // `name` stands in messages.
  TextLines(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {}

  // The words of the next line that has any; nothing at the end.
  [[nodiscard]] std::optional<std::vector<std::string_view>> next();

  // "NAME:LINE: …"
  [[nodiscard]] tl::unexpected<Error> error(std::string_view what) const;

 private:
  std::string_view rest_;
  std::string name_;
  std::size_t line_ = 0;
};

// A whole word as a number: hexadecimal behind 0x, else decimal; may be negative.
[[nodiscard]] std::optional<std::uint64_t> to_number(std::string_view word);
[[nodiscard]] std::optional<std::int16_t> to_offset(std::string_view word);

// "KEY=VALUE"
struct Pair {
  std::string_view key;
  std::string_view value;
};
[[nodiscard]] std::optional<Pair> to_pair(std::string_view word);

}  // namespace ringside::cases
