#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "exporters/sink.h"

namespace ringside::exporters {

// A text that is safe to print already, as a JSON string with its quotes. Bytes that are not UTF-8
// become U+FFFD.
[[nodiscard]] std::string json_quoted(std::string_view text);
// The same of a text from outside, sanitized as in every output (profile/sanitize.h). An empty text
// stays empty.
[[nodiscard]] std::string json_string(std::string_view text);

// JSON that is written piece by piece, so that columns of any length need no memory.
class JsonText {
 public:
  explicit JsonText(Sink& sink) : sink_(sink) {}

  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    flush_above(kPiece);
  }
  void add_text(std::string_view text) {
    text_ += text;
    flush_above(kPiece);
  }
  // A member whose value is a list of `count` values, with a comma behind: `write(i)` adds the one
  // at `i`.
  template <class Write>
  void column(std::string_view name, std::size_t count, Write&& write) {
    add("\"{}\":[", name);
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 0) text_ += ',';
      write(i);
    }
    add_text("],");
  }
  // The same with one value `count` times.
  void constant(std::string_view name, std::size_t count, std::string_view value) {
    column(name, count, [&](std::size_t) { add_text(value); });
  }

  // To be called once, at the end: an error of the sink in any of the calls.
  [[nodiscard]] Result<void> finish() {
    flush_above(0);
    return result_;
  }

 private:
  static constexpr std::size_t kPiece = 1 << 16;
  void flush_above(std::size_t size) {
    if (text_.size() <= size) return;
    if (result_) result_ = sink_.write(text_);
    text_.clear();
  }

  Sink& sink_;
  Result<void> result_;
  std::string text_;
};

}  // namespace ringside::exporters
