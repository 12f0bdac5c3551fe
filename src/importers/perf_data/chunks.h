#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_reader.h"

namespace ringside::importers::perf_data {

// Pieces of memory with decompressed records. One stays as long as somebody holds it.
class Chunks {
 public:
  static constexpr std::uint32_t kFile = 0;  // the number of what lies in the file itself

  // Held once.
  [[nodiscard]] std::uint32_t add(std::vector<std::byte> bytes) {
    size_ += bytes.size();
    chunks_.emplace(++last_, Chunk{std::move(bytes), 1});
    return last_;
  }
  [[nodiscard]] Bytes bytes(std::uint32_t number) const { return chunks_.at(number).bytes; }
  void hold(std::uint32_t number) {
    if (number != kFile) ++chunks_.at(number).holders;
  }
  void release(std::uint32_t number) {
    if (number == kFile) return;
    const auto chunk = chunks_.find(number);
    if (--chunk->second.holders != 0) return;
    size_ -= chunk->second.bytes.size();
    chunks_.erase(chunk);
  }
  [[nodiscard]] std::size_t size() const { return size_; }  // bytes of all

 private:
  struct Chunk {
    std::vector<std::byte> bytes;
    std::uint32_t holders;
  };
  std::unordered_map<std::uint32_t, Chunk> chunks_;
  std::uint32_t last_ = kFile;
  std::size_t size_ = 0;
};

}  // namespace ringside::importers::perf_data
