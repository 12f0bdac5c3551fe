#include "engines/gdb/protocol/batch.h"

#include <algorithm>

#include "engines/gdb/protocol/packet.h"

namespace ringside::engines::gdb {

void Batch::add(std::string_view payload) {
  append_packet(bytes_, payload);
  ends_.push_back(bytes_.size());
}

void Batch::append(const Batch& more) {
  const std::size_t before = bytes_.size();
  bytes_ += more.bytes_;
  for (const std::size_t end : more.ends_) ends_.push_back(before + end);
}

void Batch::clear() {
  bytes_.clear();
  ends_.clear();
}

std::string_view Batch::packet(std::size_t n) const {
  const std::size_t begin = n == 0 ? 0 : ends_[n - 1];
  return std::string_view(bytes_).substr(begin, ends_[n] - begin);
}

std::size_t Batch::packets_within(std::size_t bytes) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), bytes) -
                                  ends_.begin());
}

}  // namespace ringside::engines::gdb
