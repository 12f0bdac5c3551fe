#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "exporters/sink.h"

namespace ringside::exporters::trace_dat {

inline constexpr std::size_t kPageSize = 4096;
// Bytes of one event that a page holds: all but its header of 16 bytes and the event's own of 8.
inline constexpr std::size_t kMostEvent = kPageSize - 16 - 8;

// Packs the events of one processor into pages of Linux' ring buffer: a time and the number of
// bytes in use, then events that have the distance in time from the one before. The layout:
// include/linux/ring_buffer.h and kernel/trace/ring_buffer.c of Linux 6.1.
class RingBuffer {
 public:
  explicit RingBuffer(Sink& sink) : sink_(sink) {}

  // An event of 1 to kMostEvent bytes, at a time in nanoseconds that is not before the last one's.
  // Errors: those of the sink.
  [[nodiscard]] Result<void> add(std::uint64_t time, std::string_view event);
  // To be called behind the last event. Errors: those of the sink.
  [[nodiscard]] Result<void> finish();
  // Bytes that were written: whole pages.
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  [[nodiscard]] Result<void> write_page();

  Sink& sink_;
  std::string data_;              // of the page that is being filled
  std::uint64_t page_time_ = 0;   // its first event's
  std::uint64_t event_time_ = 0;  // its last event's
  std::uint64_t size_ = 0;
};

}  // namespace ringside::exporters::trace_dat
