#pragma once

#include <algorithm>
#include <concepts>
#include <cstring>
#include <span>
#include <string_view>

#include "base/leb128.h"
#include "base/result.h"
#include "base/types.h"

namespace ringside {

using Bytes = std::span<const std::byte>;

inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads little-endian values from the front of a byte range. Every read is checked; an error
// carries the offset from the start of the range. The range must outlive the reader.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - offset_; }
  [[nodiscard]] bool empty() const { return remaining() == 0; }

  template <std::integral T>
  [[nodiscard]] Result<T> read() {
    if (remaining() < sizeof(T)) return too_short(sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  [[nodiscard]] Result<Bytes> read_bytes(std::size_t count) {
    if (remaining() < count) return too_short(count);
    const Bytes result = bytes_.subspan(offset_, count);
    offset_ += count;
    return result;
  }

  // A NUL-terminated string, without the NUL.
  [[nodiscard]] Result<std::string_view> read_c_string() {
    const Bytes rest = bytes_.subspan(offset_);
    const void* end = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
    if (end == nullptr)
      return fail(ErrorCode::kTruncated, "unterminated string at offset {:#x}", offset_);
    const auto length = static_cast<std::size_t>(static_cast<const std::byte*>(end) - rest.data());
    offset_ += length + 1;
    return std::string_view(reinterpret_cast<const char*>(rest.data()), length);
  }

  // LEB128 numbers. One that is longer than 64 bits is an error.
  [[nodiscard]] Result<std::uint64_t> read_uleb() { return read_leb<false>(); }
  [[nodiscard]] Result<std::int64_t> read_sleb() {
    RINGSIDE_ASSIGN(const std::uint64_t value, read_leb<true>());
    return static_cast<std::int64_t>(value);
  }

  [[nodiscard]] Result<void> skip(std::size_t count) {
    if (remaining() < count) return too_short(count);
    offset_ += count;
    return {};
  }

 private:
  template <bool kSigned>
  [[nodiscard]] Result<std::uint64_t> read_leb() {
    const std::byte* const at = bytes_.data() + offset_;
    const std::size_t most = std::min(remaining(), Leb128::kMostBytes);
    const Leb128 number = decode_leb128<kSigned>(at, at + most);
    offset_ += number.bytes;
    if (number.bytes != 0) return number.value;
    if (most < Leb128::kMostBytes) return too_short(most + 1);
    return fail(ErrorCode::kFormat, "LEB128 number too long at offset {:#x}", offset_);
  }

  [[nodiscard]] tl::unexpected<Error> too_short(std::size_t wanted) const {
    return fail(ErrorCode::kTruncated, "{} bytes wanted at offset {:#x}, {} are left", wanted,
                offset_, remaining());
  }

  Bytes bytes_;
  std::size_t offset_ = 0;
};

}  // namespace ringside
