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
  // `name` stands in messages. `line` is the number of the line before the first one of `text`.
  TextLines(std::string_view text, std::string name, std::size_t line = 0)
      : rest_(text), name_(std::move(name)), line_(line), read_(line) {}

  // The words of the next line that has any; nothing at the end.
  [[nodiscard]] std::optional<std::vector<std::string_view>> next();

  // "NAME:LINE: …" of the line that next() has read last.
  [[nodiscard]] tl::unexpected<Error> error(std::string_view what,
                                            ErrorCode code = ErrorCode::kFormat) const;

 private:
  std::string_view rest_;
  std::string name_;
  std::size_t line_;
  std::size_t read_;  // the line whose words were read last
};

// The lines between a line "[NAME]" and the next one of that form.
struct Section {
  std::string_view name;
  TextLines lines;  // before their first one an error names the line "[NAME]"
};

// A text of sections. Its lines and names point into the text.
class SectionedText {
 public:
  // `name` stands in messages.
  SectionedText(std::string_view text, const std::string& name);

  // The lines before the first section.
  [[nodiscard]] const TextLines& preamble() const { return preamble_; }
  // In the order of the text.
  [[nodiscard]] const std::vector<Section>& sections() const { return sections_; }

 private:
  TextLines preamble_;
  std::vector<Section> sections_;
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
