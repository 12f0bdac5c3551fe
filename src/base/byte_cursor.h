#pragma once

#include <concepts>
#include <cstring>
#include <string_view>

#include "base/byte_reader.h"
#include "base/leb128.h"

namespace ringside {

// A ByteReader for inner loops over hundreds of megabytes: instead of a Result for every value, one
// flag for all of them. A read past the end gives 0, leaves the cursor at the end and sets
// failed(), so a caller checks once, after it has read what belongs together, and before it uses
// any of it.
class ByteCursor {
 public:
  ByteCursor() = default;
  explicit ByteCursor(Bytes bytes, std::uint64_t offset = 0)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {
    skip(offset);
  }

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool empty() const { return at_ == end_; }
  [[nodiscard]] std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
  [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

  template <std::integral T>
  T read() {
    T value{};
    if (remaining() < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  // An unsigned number of 1 to 8 bytes.
  std::uint64_t read_unsigned(std::size_t size) {
    std::uint64_t value = 0;
    if (remaining() < size || size > sizeof value) {
      fail();
      return 0;
    }
    std::memcpy(&value, at_, size);
    at_ += size;
    return value;
  }

  // LEB128 numbers. Bits beyond 64 are cut off.
  std::uint64_t read_uleb() { return read_leb<false>(); }
  std::int64_t read_sleb() { return static_cast<std::int64_t>(read_leb<true>()); }

  void skip_leb() {
    while (at_ != end_)
      if ((std::to_integer<unsigned>(*at_++) & 0x80) == 0) return;
    fail();
  }

  void skip(std::uint64_t count) {
    if (remaining() < count)
      fail();
    else
      at_ += count;
  }

  // To an offset from the start of the range, forwards or backwards.
  void seek(std::uint64_t offset) {
    if (offset > static_cast<std::size_t>(end_ - begin_))
      fail();
    else
      at_ = begin_ + offset;
  }

  Bytes read_bytes(std::uint64_t count) {
    if (remaining() < count) {
      fail();
      return {};
    }
    const Bytes result(at_, count);
    at_ += count;
    return result;
  }

  // A NUL-terminated string, without the NUL.
  std::string_view read_c_string() {
    const void* nul = empty() ? nullptr : std::memchr(at_, 0, remaining());
    if (nul == nullptr) {
      fail();
      return {};
    }
    const auto* text = reinterpret_cast<const char*>(at_);
    const auto length = static_cast<std::size_t>(static_cast<const char*>(nul) - text);
    at_ += length + 1;
    return {text, length};
  }

 private:
  template <bool kSigned>
  std::uint64_t read_leb() {
    const Leb128 number = decode_leb128<kSigned>(at_, end_);
    if (number.bytes == 0) fail();
    at_ += number.bytes;
    return number.value;
  }

  void fail() {
    failed_ = true;
    at_ = end_;
  }

  const std::byte* begin_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  bool failed_ = false;
};

}  // namespace ringside
