#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/split.h"
#include "importers/gdb_lines.h"

namespace ringside::importers {

// Lines of gdb's text: without colours, and those of frames whole where gdb wrapped them.
class GdbLineReader {
 public:
  explicit GdbLineReader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::uint64_t number() const { return number_; }  // of the last one taken
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

  // Valid until the next call.
  std::string_view take() {
    number_ += lines_;
    lines_ = 1;
    std::string_view line = plain(take_line(rest_), own_);
    if (!line.starts_with('#')) return line;
    while (!rest_.empty() && line.size() < kMostJoined) {
      std::string_view behind = rest_;
      std::string_view next = plain(take_line(behind), next_);
      if (!is_gdb_continuation(line, next)) break;
      rest_ = behind;
      ++lines_;
      next.remove_prefix(std::min(next.find_first_not_of(" \t"), next.size()));
      if (line.data() != joined_.data()) joined_ = line;
      if (!joined_.ends_with('(') && !joined_.ends_with(' ')) joined_ += ' ';
      joined_ += next;
      line = joined_;
    }
    return line;
  }

 private:
  static constexpr std::size_t kMostJoined = 64 << 10;  // bytes of a line that was wrapped
  static constexpr char kEscape = '\x1b';

  static std::string_view plain(std::string_view line, std::string& buffer) {
    if (line.find(kEscape) == std::string_view::npos) return line;
    return buffer = without_colors(line);
  }

  std::string_view rest_;
  std::uint64_t number_ = 1;
  std::uint64_t lines_ = 0;  // that the last one was made of
  std::string own_;          // reused
  std::string next_;         // reused
  std::string joined_;       // reused
};

}  // namespace ringside::importers
