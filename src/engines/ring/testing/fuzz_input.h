#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

// For fuzzers of the ring engine.
namespace ringside::engines::ring::testing {

inline void must(bool what) {
  if (!what) std::abort();
}

// The fuzzer's bytes, one after the other; zeros behind them.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  template <class T>
  T next() {
    T value{};
    take({reinterpret_cast<std::byte*>(&value), sizeof(value)});
    return value;
  }
  void take(std::span<std::byte> to) {
    const std::size_t bytes = std::min(to.size(), size_);
    if (bytes != 0) std::memcpy(to.data(), data_, bytes);
    data_ += bytes;
    size_ -= bytes;
  }
  [[nodiscard]] bool is_empty() const { return size_ == 0; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

}  // namespace ringside::engines::ring::testing
