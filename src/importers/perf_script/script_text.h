#pragma once

#include <cstddef>
#include <string_view>

namespace ringside::importers::perf_script {

// Takes the text of `perf script` apart into blocks, which are views of it.
class ScriptText {
 public:
  struct Block {
    std::size_t offset = 0;    // of its first line
    std::string_view comment;  // a line that begins with '#'; the others are empty then
    std::string_view header;   // the line of a sample; may be empty: -F ip
    std::string_view frames;   // the lines below it
    bool is_closed = false;    // an empty line follows, as behind each call chain
  };

  explicit ScriptText(std::string_view text) : text_(text) {}

  // False at the end.
  bool next(Block& block);
  [[nodiscard]] std::size_t offset() const { return at_; }

 private:
  [[nodiscard]] std::string_view line_at(std::size_t at) const;
  // Where the line behind that at `at` begins.
  [[nodiscard]] std::size_t behind_line(std::size_t at) const;
  [[nodiscard]] bool is_blank_line(std::size_t at) const;
  [[nodiscard]] bool skip_blank_lines();
  [[nodiscard]] bool is_of_chain(std::size_t at) const;
  [[nodiscard]] std::string_view take_frames();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace ringside::importers::perf_script
