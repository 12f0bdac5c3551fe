#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>

namespace ringside::importers {

// Counts the parts of an input that could not be read, and keeps where and why the first was none.
class Faults {
 public:
  // `at` says where, in words: "offset 0x1c", "line 12".
  void add(std::string at, std::string reason) {
    if (count_++ != 0) return;
    at_ = std::move(at);
    reason_ = std::move(reason);
  }
  void add(std::uint64_t offset, std::string reason) {
    if (count_ == 0)
      add(fmt::format("offset {:#x}", offset), std::move(reason));
    else
      ++count_;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  // "perf.txt: 3 lines are left out; the first is at offset 0x1c: it is neither an event nor a
  // frame". `what` is of several: "lines", "records".
  [[nodiscard]] std::string sentence(const std::string& input, const char* what) const {
    if (count_ == 1)
      return fmt::format("{}: one of the {} is left out, at {}: {}", input, what, at_, reason_);
    return fmt::format("{}: {} {} are left out; the first is at {}: {}", input, count_, what, at_,
                       reason_);
  }
  // For where nothing else was found.
  [[nodiscard]] std::string first() const { return fmt::format("{}: {}", at_, reason_); }

 private:
  std::uint64_t count_ = 0;
  std::string at_;
  std::string reason_;
};

}  // namespace ringside::importers
