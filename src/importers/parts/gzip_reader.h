#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/byte_reader.h"

namespace ringside::importers {

// Whether the bytes begin as gzip's do (RFC 1952).
[[nodiscard]] bool is_gzip(Bytes bytes);

// Unpacks gzip data piece by piece, all of its members one behind the other.
class GzipReader {
 public:
  // `packed` must outlive it.
  explicit GzipReader(Bytes packed);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Fills `room`, which is not empty, from its beginning; returns how many bytes of it. 0: the data
  // has ended, or there is a fault, and all before it was given.
  [[nodiscard]] std::size_t read(std::span<std::byte> room);
  // Bytes of the packed data that were read.
  [[nodiscard]] std::size_t offset() const { return offset_; }
  // Why the rest is not there, with the offset; empty while there is none.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  struct Stream;

  Bytes packed_;
  std::unique_ptr<Stream> stream_;
  std::size_t offset_ = 0;
  bool is_done_ = false;
  std::string fault_;
};

}  // namespace ringside::importers
