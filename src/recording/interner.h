#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/dense_table.h"
#include "recording/samples.h"

namespace ringside::recording {

// Numbers distinct keys, from 1 in the order of first sight. Where there are very many it forgets
// those that were not seen for long, which get a new number when they are seen again: memory stays
// bounded, and no number is given twice. `most` are seen before one is forgotten that was not seen
// among them.
template <class Key, class Hash, std::size_t most = 1 << 19>
class NumberTable {
 public:
  // The key's number, which is next() - 1 where it is a new one.
  std::uint32_t number(const Key& key) {
    Entry& entry = recent_[recent_.find_or_add(key)];
    if (entry.number != 0) return entry.number;
    const Entry* const known = earlier_.find(key);
    const std::uint32_t number = entry.number = known != nullptr ? known->number : next_++;
    if (recent_.size() == most) {
      std::swap(recent_, earlier_);
      recent_.clear();
    }
    return number;
  }
  // The number of the next new key.
  [[nodiscard]] std::uint32_t next() const { return next_; }

 private:
  struct Entry {
    Key key;
    std::uint32_t number = 0;  // 0: it has none yet
  };
  DenseTable<Key, Entry, Hash> recent_;
  DenseTable<Key, Entry, Hash> earlier_;
  std::uint32_t next_ = 1;
};

// Numbers distinct values, and keeps those that were not written yet.
template <class Value, class Hash>
class Interner {
 public:
  std::uint32_t intern(const Value& value) {
    const std::uint32_t next = numbers_.next();
    const std::uint32_t number = numbers_.number(value);
    if (number == next) pending_.push_back(value);
    return number;
  }
  // Those that were not written, and the number of the first of them.
  [[nodiscard]] const std::vector<Value>& pending() const { return pending_; }
  [[nodiscard]] std::uint32_t first_pending() const {
    return numbers_.next() - static_cast<std::uint32_t>(pending_.size());
  }
  void clear_pending() { pending_.clear(); }

 private:
  NumberTable<Value, Hash> numbers_;
  std::vector<Value> pending_;
};

struct ThreadHash {
  std::uint64_t operator()(const Thread& thread) const {
    return mixed((std::uint64_t{thread.pid.value_or(~0u)} << 32 | thread.tid.value_or(~0u)) ^
                 mixed(thread.start_ns));
  }
};

struct StackListHash {
  std::uint64_t operator()(const StackList& list) const {
    const StackRef& stack = list.stack;
    return mixed((std::uint64_t{list.rest} << 32 | stack.node) ^
                 mixed(stack.stopped_at.value ^ static_cast<std::uint64_t>(stack.stop) << 48 ^
                       static_cast<std::uint64_t>(stack.role) << 56));
  }
};

}  // namespace ringside::recording
