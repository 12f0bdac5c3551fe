#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::engines::gdb {

// Requests that go out in one write and are answered in order.
class Batch {
 public:
  void add(std::string_view payload);
  void append(const Batch& more);
  void clear();
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::string_view packet(std::size_t n) const;
  // How many of its packets lie wholly in its first `bytes` bytes.
  [[nodiscard]] std::size_t packets_within(std::size_t bytes) const;

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace ringside::engines::gdb
