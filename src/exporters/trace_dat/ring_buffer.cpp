#include "exporters/trace_dat/ring_buffer.h"

#include "exporters/parts/binary.h"

namespace ringside::exporters::trace_dat {
namespace {

constexpr std::size_t kPageHeader = 16;
// The first word of an event: 5 bits of its type, and 27 of the distance in time.
constexpr unsigned kTypeBits = 5;
constexpr unsigned kTimeBits = 27;
constexpr unsigned kTimeWordBits = 32;  // of the distance, in the second word of a time extension
constexpr std::uint32_t kTimeExtend = 30;
constexpr std::size_t kWord = 4;
constexpr std::size_t kMostTypeLength = 28 * kWord;  // a type up to it is the length in words

std::uint32_t first_word(std::uint32_t type, std::uint64_t distance) {
  const std::uint64_t low = distance & ((std::uint64_t{1} << kTimeBits) - 1);
  return type | static_cast<std::uint32_t>(low << kTypeBits);
}

}  // namespace

Result<void> RingBuffer::add(std::uint64_t time, std::string_view event) {
  const std::size_t padded = (event.size() + kWord - 1) / kWord * kWord;
  const bool has_length = padded > kMostTypeLength;
  const std::size_t size = kWord + (has_length ? kWord : 0) + padded;
  const bool is_far = (time - event_time_) >> kTimeBits != 0;
  const bool is_beyond = (time - event_time_) >> (kTimeBits + kTimeWordBits) != 0;
  const std::size_t extension = is_far ? 2 * kWord : 0;
  if (!data_.empty() && (is_beyond || kPageHeader + data_.size() + extension + size > kPageSize))
    RINGSIDE_TRY(write_page());
  if (data_.empty()) page_time_ = event_time_ = time;
  std::uint64_t distance = time - event_time_;
  if (distance >> kTimeBits != 0) {
    exporters::add(data_, first_word(kTimeExtend, distance));
    exporters::add(data_, static_cast<std::uint32_t>(distance >> kTimeBits));
    distance = 0;
  }
  event_time_ = time;
  const auto words = static_cast<std::uint32_t>(padded / kWord);
  exporters::add(data_, first_word(has_length ? 0 : words, distance));
  // The length counts the word that it stands in.
  if (has_length) exporters::add(data_, static_cast<std::uint32_t>(kWord + padded));
  data_ += event;
  data_.append(padded - event.size(), '\0');
  return {};
}

Result<void> RingBuffer::finish() { return data_.empty() ? Result<void>() : write_page(); }

Result<void> RingBuffer::write_page() {
  std::string page;
  exporters::add(page, page_time_);
  exporters::add(page, static_cast<std::uint64_t>(data_.size()));  // the field "commit"
  page += data_;
  page.resize(kPageSize);
  data_.clear();
  size_ += kPageSize;
  return sink_.write(page);
}

}  // namespace ringside::exporters::trace_dat
