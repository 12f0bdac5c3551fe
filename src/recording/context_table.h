#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recording/interner.h"

namespace ringside::recording {

// The contexts of samples, each once, and what they are made of. A context that was seen before
// costs one look-up, by a hash of 128 bits of all that it has.
class ContextTable {
 public:
  // The number of the context of such samples.
  std::uint32_t intern(const SampleInfo& info, std::span<const StackRef> stacks);

  std::uint32_t intern(const Thread& thread) { return threads_.intern(thread); }

  // The parts that were not written yet.
  [[nodiscard]] const Interner<Thread, ThreadHash>& threads() const { return threads_; }
  [[nodiscard]] const Interner<StackList, StackListHash>& lists() const { return lists_; }
  [[nodiscard]] const std::vector<Context>& pending() const { return pending_; }
  [[nodiscard]] std::uint32_t first_pending() const {
    return numbers_.next() - static_cast<std::uint32_t>(pending_.size());
  }
  [[nodiscard]] std::size_t pending_count() const {
    return threads_.pending().size() + lists_.pending().size() + pending_.size();
  }
  void clear_pending();

 private:
  struct Key {
    std::uint64_t low;
    std::uint64_t high;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::uint64_t operator()(const Key& key) const { return key.low; }
  };
  [[nodiscard]] Key key_of(const SampleInfo& info, std::span<const StackRef> stacks);

  NumberTable<Key, KeyHash> numbers_;
  Interner<Thread, ThreadHash> threads_;
  Interner<StackList, StackListHash> lists_;
  std::vector<Context> pending_;
  std::vector<std::uint64_t> words_;  // reused
};

}  // namespace ringside::recording
