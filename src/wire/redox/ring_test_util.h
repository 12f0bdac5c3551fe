#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <string>
#include <vector>

// Rings of Redox' profiler as src/profiling.rs (redox-os/kernel @ 663e6641, and before 2026-06-03
// for format A) fills them, with all that was put into them.
namespace ringside::wire::redox {

struct TrueSample {
  std::uint64_t pc = 0;
  std::uint64_t counter = 0;
  std::uint32_t context = 0xffffffff;  // all ones: none
  std::vector<std::uint64_t> callers;
  bool operator==(const TrueSample&) const = default;
};

inline void PrintTo(const TrueSample& sample, std::ostream* out) {
  *out << fmt::format("pc {:#x} counter {} context {} callers", sample.pc, sample.counter,
                      sample.context);
  for (const std::uint64_t caller : sample.callers) *out << fmt::format(" {:#x}", caller);
}

using RingData = std::vector<std::uint64_t>;

inline RingData words_a(const TrueSample& sample) {
  RingData words = {sample.pc & ~(std::uint64_t{1} << 63), sample.counter};
  words.insert(words.end(), sample.callers.begin(), sample.callers.end());
  return words;
}

inline RingData words_b(const TrueSample& sample) {
  RingData words = {0xfedfac00 | (4 + sample.callers.size()), sample.pc, sample.counter,
                    sample.context};
  words.insert(words.end(), sample.callers.begin(), sample.callers.end());
  return words;
}

inline RingData words_of(char format, const TrueSample& sample) {
  return format == 'A' ? words_a(sample) : words_b(sample);
}

inline std::string text_of(const RingData& words) {
  std::string text(words.size() * 8, '\0');
  if (!words.empty()) std::memcpy(text.data(), words.data(), text.size());
  return text;
}

// Samples of a kernel's code, and of programs' in format B.
inline std::vector<TrueSample> random_samples(char format, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  const auto kernel = [&] { return 0xffffffff80000000 + below(0x200000); };
  const auto user = [&] { return 0x200000 + below(0x1000000); };
  std::vector<TrueSample> samples;
  std::uint64_t counter = 1'000'000 + below(1'000'000);
  for (std::size_t i = 0; i < count; ++i) {
    TrueSample& sample = samples.emplace_back();
    const bool is_user = format == 'B' && below(3) == 0;
    sample.pc = is_user ? user() : kernel();
    sample.counter = counter += 1 + below(5'000'000);
    const std::size_t room = format == 'A' ? 30 : 28;
    const std::size_t kernel_frames = is_user ? 0 : below(below(8) == 0 ? room + 1 : 9);
    for (std::size_t n = 0; n < kernel_frames; ++n) sample.callers.push_back(kernel());
    if (format == 'A') continue;
    if (below(4) != 0) sample.context = static_cast<std::uint32_t>(below(20));
    const std::size_t user_frames = is_user || below(2) == 0 ? below(room - kernel_frames + 1) : 0;
    for (std::size_t n = 0; n < user_frames; ++n) sample.callers.push_back(user());
  }
  return samples;
}

// The ring of the kernel: what is put into it when it is full is cut, and what is left of room is
// used for that (extend()). Whoever reads takes words out of it (drain_buffer()).
class KernelRing {
 public:
  explicit KernelRing(std::size_t words) : words_(words) {}

  // How many words had room.
  std::size_t put(const RingData& words) {
    // As many as there are words, head and tail are equal again, and it reads as empty.
    const std::size_t room = words_.size() - 1 - (tail_ - head_);
    const std::size_t count = std::min(room, words.size());
    for (std::size_t i = 0; i < count; ++i) words_[tail_++ % words_.size()] = words[i];
    return count;
  }
  void take(std::size_t most, RingData& out) {
    for (; most > 0 && head_ < tail_; --most) out.push_back(words_[head_++ % words_.size()]);
  }

 private:
  RingData words_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

// A ring that goes on when it is full, so that the newest words are in it.
class OverwritingRing {
 public:
  explicit OverwritingRing(std::size_t words) : words_(words) {}

  void put(const RingData& words) {
    for (const std::uint64_t word : words) words_[tail_++ % words_.size()] = word;
  }
  [[nodiscard]] const RingData& memory() const { return words_; }
  [[nodiscard]] bool is_full() const { return tail_ >= words_.size(); }
  // Words that were put and are not there any more.
  [[nodiscard]] std::size_t overwritten() const { return is_full() ? tail_ - words_.size() : 0; }

 private:
  RingData words_;
  std::size_t tail_ = 0;
};

}  // namespace ringside::wire::redox
