#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/byte_reader.h"
#include "base/types.h"
#include "guestos/process_updates.h"

namespace ringside::guestos {

inline constexpr std::uint64_t kCodePage = 4096;

// Result of comparing memory with a file's code.
enum class Fit : std::uint8_t {
  kSilent,  // nothing of the file's code lies there
  kEqual,
  kDifferent,
};

// The code of a program's file, for comparison with what a process has in its memory: .text, for
// some loaders leave out the rest; without one the executable segments.
class ProgramCode {
 public:
  explicit ProgramCode(std::shared_ptr<const UserImage> program);

  [[nodiscard]] const std::shared_ptr<const UserImage>& program() const { return program_; }
  // It may run at any multiple of the page's size from where it is linked.
  [[nodiscard]] bool may_move() const;
  [[nodiscard]] bool covers(ImageAddr at) const;
  // Compares the bytes that both have.
  [[nodiscard]] Fit compare(ImageAddr at, Bytes memory) const;
  // The pages that hold code, in order.
  [[nodiscard]] const std::vector<ImageAddr>& pages() const { return pages_; }
  // Both have the same bytes at the same addresses.
  [[nodiscard]] bool is_same_as(const ProgramCode& other) const;

 private:
  struct Range {
    ImageAddr start;
    Bytes bytes;  // of program_->file
  };
  void add(ImageAddr start, Bytes bytes);

  std::shared_ptr<const UserImage> program_;
  std::vector<Range> ranges_;
  std::vector<ImageAddr> pages_;
};

}  // namespace ringside::guestos
