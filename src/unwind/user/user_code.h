#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "elf/elf_file.h"

namespace ringside::unwind {

// The code of one address space: which file is mapped where.
class UserCode {
 public:
  struct Range {
    GuestVirt start;
    GuestVirt end;                             // behind the last byte
    std::uint64_t load_bias = 0;               // guest virtual minus linked address, modulo 2^64
    std::uint32_t image = 0;                   // its number in the recording
    std::shared_ptr<const elf::ElfFile> file;  // null where it is not there: nothing is unwound

    [[nodiscard]] ImageAddr to_image(GuestVirt at) const { return {at.value - load_bias}; }
  };

  UserCode() = default;
  // Ranges do not overlap.
  explicit UserCode(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Range& a, const Range& b) { return a.start < b.start; });
  }
  // Null where there is none.
  [[nodiscard]] const Range* find(GuestVirt at) const {
    auto after = std::upper_bound(ranges_.begin(), ranges_.end(), at,
                                  [](GuestVirt to, const Range& r) { return to < r.start; });
    if (after == ranges_.begin()) return nullptr;
    --after;
    return at < after->end ? &*after : nullptr;
  }
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  // Addresses still come to their images; nothing is unwound any more.
  void forget_files() {
    for (Range& range : ranges_) range.file.reset();
  }

 private:
  std::vector<Range> ranges_;  // sorted by start
};

}  // namespace ringside::unwind
