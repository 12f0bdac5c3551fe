#pragma once

#include <cstddef>
#include <cstdint>

#include "base/little_endian.h"

namespace ringside::wire::redox {

// The words of a ring, 8 bytes each, from any of them on: the file's last word is followed by its
// first. Bytes behind the last whole word are left out. The bytes must outlive it.
class RingWords {
 public:
  explicit RingWords(Bytes bytes) : bytes_(bytes), size_(bytes.size() / kBytes) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  // `index` is below size().
  [[nodiscard]] std::uint64_t operator[](std::size_t index) const {
    return load<std::uint64_t>(bytes_, place(index) * kBytes);
  }
  // Where the word stands in the file, bytes.
  [[nodiscard]] std::size_t offset_of(std::size_t index) const { return place(index) * kBytes; }

  // The word that stands at `index` now becomes the first.
  void begin_at(std::size_t index) { first_ = place(index); }

  static constexpr std::size_t kBytes = 8;

 private:
  [[nodiscard]] std::size_t place(std::size_t index) const {
    const std::size_t place = first_ + index;
    return place < size_ ? place : place - size_;
  }

  Bytes bytes_;
  std::size_t size_;
  std::size_t first_ = 0;
};

}  // namespace ringside::wire::redox
