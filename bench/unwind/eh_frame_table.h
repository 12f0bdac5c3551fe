#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_reader.h"
#include "elf/image_map.h"

namespace ringside::bench {

// An image's .debug_frame in the form that libunwind reads from a remote process: the entries as
// .eh_frame has them, behind a binary search table as in .eh_frame_hdr. Debian's libunwind is built
// without --enable-debug-frame, and Linux has no .eh_frame.
class EhFrameTable {
 public:
  // Nothing where the image has no .debug_frame of 32-bit DWARF.
  [[nodiscard]] static std::optional<EhFrameTable> make(const elf::Image& image);

  [[nodiscard]] bool covers(std::uint64_t pc) const { return pc - start_ < end_ - start_; }
  [[nodiscard]] std::uint64_t start() const { return start_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  // Where the table pretends to lie in the guest: behind the image, where nothing else is.
  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  // The word at an address of the table, if it is one.
  [[nodiscard]] std::optional<std::uint64_t> read(std::uint64_t address) const;

 private:
  struct Row {  // offsets from address(): libunwind's struct table_entry
    std::int32_t start;
    std::int32_t fde;
  };
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t address_ = 0;
  std::size_t rows_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace ringside::bench
