#pragma once

#include <filesystem>
#include <string>

#include "base/fd.h"

namespace ringside::launch {

// Looks for a text in a file that grows. The file may appear later.
class TextWatch {
 public:
  TextWatch(std::filesystem::path path, std::string text)
      : path_(std::move(path)), text_(std::move(text)) {}

  // True from the moment the text stands in the file. Reads only what is new.
  [[nodiscard]] bool seen();
  [[nodiscard]] const std::string& text() const { return text_; }
  // As seen() returned last.
  [[nodiscard]] bool was_seen() const { return seen_; }
  // The last line that is not empty, as far as seen() has read: at most its last 200 bytes.
  [[nodiscard]] std::string last_line() const;

 private:
  std::filesystem::path path_;
  std::string text_;
  UniqueFd fd_;
  std::string tail_;    // the end of what was read: the text may be cut by a read
  std::string recent_;  // the same, for people
  bool seen_ = false;
};

}  // namespace ringside::launch
