#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace ringside::session {

// Hands values from one thread to another. The writer never waits: a queue that holds more than
// `limit` bytes refuses.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t limit) : limit_(limit) {}

  // False if the queue is full; the value is then left as it was.
  [[nodiscard]] bool push(T&& value, std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (bytes_ >= limit_) return false;
      bytes_ += bytes;
      most_bytes_ = std::max(most_bytes_, bytes_);
      values_.emplace_back(std::move(value), bytes);
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

  // Waits until the reader has come back for more after the last value; false after `timeout`.
  [[nodiscard]] bool wait_until_handled(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return idle_.wait_for(lock, timeout, [this] { return reader_waits_ && values_.empty(); });
  }

  // The next value; nothing after `timeout`, or when the queue is closed and empty.
  [[nodiscard]] std::optional<T> pop(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    reader_waits_ = true;
    idle_.notify_one();
    ready_.wait_for(lock, timeout, [this] { return closed_ || !values_.empty(); });
    if (values_.empty()) return std::nullopt;
    reader_waits_ = false;
    std::optional<T> value(std::move(values_.front().first));
    bytes_ -= values_.front().second;
    values_.pop_front();
    return value;
  }

  // Whether the queue is empty, and has held `bytes` and more since this was true last.
  [[nodiscard]] bool was_drained(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!values_.empty() || most_bytes_ < bytes) return false;
    most_bytes_ = 0;
    return true;
  }

  [[nodiscard]] bool finished() const {
    const std::lock_guard lock(mutex_);
    return closed_ && values_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable idle_;
  std::deque<std::pair<T, std::size_t>> values_;
  std::size_t bytes_ = 0;
  std::size_t most_bytes_ = 0;
  std::size_t limit_;
  bool closed_ = false;
  bool reader_waits_ = false;
};

}  // namespace ringside::session
