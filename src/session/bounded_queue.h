#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace ringside::session {

// Hands values from one thread to another. The writer never waits: a full queue refuses.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t limit) : limit_(limit) {}

  // False if the queue is full; the value is then left as it was.
  [[nodiscard]] bool push(T&& value) {
    {
      const std::lock_guard lock(mutex_);
      if (values_.size() >= limit_) return false;
      values_.push_back(std::move(value));
    }
    ready_.notify_one();
    return true;
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_one();
  }

  // The next value; nothing after `timeout`, or when the queue is closed and empty.
  [[nodiscard]] std::optional<T> pop(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, timeout, [this] { return closed_ || !values_.empty(); });
    if (values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    return value;
  }

  [[nodiscard]] bool finished() const {
    const std::lock_guard lock(mutex_);
    return closed_ && values_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> values_;
  std::size_t limit_;
  bool closed_ = false;
};

}  // namespace ringside::session
