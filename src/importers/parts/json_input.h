#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>

#include "importers/format.h"

namespace ringside::importers {

// The text of a JSON file from its beginning to its end, a piece at a time: as it is, or unpacked
// where it is compressed with gzip. Pieces that were read are given back (Input::release).
class JsonInput {
 public:
  // Bytes from one value to the next: so many times the file's, within these bounds. A file with
  // more between two is refused, as the parser holds a string several times.
  static constexpr std::uint64_t kLongestByFile = 4;
  static constexpr std::uint64_t kAlwaysLong = 4 << 20;
  static constexpr std::uint64_t kLongestValue = 32 << 20;
  // A compressed file may become that long, and another kMostRatio bytes for each of its own.
  static constexpr std::uint64_t kAlwaysUnpacked = 256 << 20;
  static constexpr std::uint64_t kMostRatio = 100;

  // `input` must outlive it.
  explicit JsonInput(const Input& input);
  ~JsonInput();
  JsonInput(const JsonInput&) = delete;
  JsonInput& operator=(const JsonInput&) = delete;

  [[nodiscard]] bool at_end() {
    if (at_ != end_ || refill()) return false;
    has_ended_ = true;
    return true;
  }
  // Whether somebody has asked for more than there is.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  [[nodiscard]] char current() const { return *at_; }
  void advance() { ++at_; }

  // In the text, not in the compressed file.
  [[nodiscard]] std::uint64_t offset() const {
    return before_ + static_cast<std::uint64_t>(at_ - begin_);
  }
  // A value begins or ends here.
  void mark_value() { last_value_ = offset(); }
  // Why it ended before the text did; empty where it did not.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  // "offset 0x1c", or "offset 0x1c of the unpacked text".
  [[nodiscard]] std::string place(std::uint64_t offset) const;

  // For the parser, which reads in one pass; the end is an Iterator of null.
  struct Iterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;
    JsonInput* input = nullptr;

    char operator*() const { return input->current(); }
    Iterator& operator++() {
      input->advance();
      return *this;
    }
    Iterator operator++(int) { return ++*this; }
    bool operator==(const Iterator& other) const { return is_end() == other.is_end(); }
    [[nodiscard]] bool is_end() const { return input == nullptr || input->at_end(); }
  };

 private:
  struct Unpacked;

  [[nodiscard]] bool refill();
  [[nodiscard]] bool next_plain();
  [[nodiscard]] bool next_unpacked();
  void release_now_and_then();

  const Input& input_;
  std::unique_ptr<Unpacked> unpacked_;  // null: the file is not compressed
  const char* begin_ = nullptr;         // of the piece at hand
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t before_ = 0;  // bytes of text in front of that piece
  std::uint64_t last_value_ = 0;
  std::uint64_t longest_ = kAlwaysLong;  // value
  std::size_t read_ = 0;                 // bytes of the file
  std::size_t released_ = 0;             // value of `read_` when pages were given back
  bool has_ended_ = false;
  std::string failure_;
};

// Up to `bytes` of the text's beginning, unpacked; less where the file is damaged.
[[nodiscard]] std::string json_beginning(const Input& input, std::size_t bytes);

}  // namespace ringside::importers
