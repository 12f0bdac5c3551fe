#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace ringside::wire {

// A value in shared memory that one side writes while the other may be reading it. Neither waits:
// a reader that the writer came between keeps what it has. Each word is released by the writer and
// acquired by the reader, so who sees a word of a new value also sees that it was being written.
template <typename T>
class SeqLock {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);
  using Words = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;

 public:
  // One writer at a time. One that was killed in here is as if it had not begun.
  void store(const T& value) {
    const auto words = std::bit_cast<Words>(value);
    const std::uint32_t odd = sequence_.load(std::memory_order_relaxed) | 1u;
    sequence_.store(odd, std::memory_order_relaxed);
    for (std::size_t n = 0; n < words.size(); ++n)
      words_[n].store(words[n], std::memory_order_release);
    sequence_.store(odd + 1, std::memory_order_release);
  }

  // Reads what was stored since `seen`, at first 0, and sets it. False, and `value` as it was,
  // where that is nothing or is being written.
  [[nodiscard]] bool load_newer(std::uint32_t& seen, T& value) const {
    const std::uint32_t sequence = sequence_.load(std::memory_order_acquire);
    if (sequence == seen || sequence % 2 != 0) return false;
    Words words;
    for (std::size_t n = 0; n < words.size(); ++n)
      words[n] = words_[n].load(std::memory_order_acquire);
    if (sequence_.load(std::memory_order_relaxed) != sequence) return false;
    value = std::bit_cast<T>(words);
    seen = sequence;
    return true;
  }

 private:
  std::atomic<std::uint32_t> sequence_{0};  // odd while `words_` are being written
  std::array<std::atomic<std::uint64_t>, Words{}.size()> words_{};
};

}  // namespace ringside::wire
