#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "elf/elf_file.h"
#include "unwind/compact_rule.h"
#include "unwind/orc/entry.h"

namespace ringside::unwind::orc {

// Where ORC's two tables come from: .orc_unwind_ip and .orc_unwind.
struct Sections {
  Bytes ip;                 // 4 bytes a row: its address relative to those bytes
  ImageAddr address;        // of `ip`
  Bytes entries;            // 6 bytes a row
  bool has_header = false;  // .orc_header is there: Linux 6.4 or later
};

// Linux's ORC tables, which know every instruction of an x86_64 kernel, entry code and stack
// switches too. Rows of equal rules are joined; what remains is held in 6 bytes a row.
class Table {
 public:
  // Errors: kFormat where the two do not belong together. Rows out of order are put in order, as
  // those of a module's file are.
  [[nodiscard]] static Result<Table> make(const Sections& sections);
  // Nothing where the file has no ORC, or it is damaged.
  [[nodiscard]] static std::optional<Table> from_elf(const elf::ElfFile& file);

  // kNone where ORC knows nothing of `pc`.
  [[nodiscard]] CompactRule find_compact(ImageAddr pc) const;
  // The same with all registers.
  [[nodiscard]] std::optional<Rule> find(ImageAddr pc) const;

  struct Size {
    std::size_t entries = 0;  // of the sections
    std::size_t rows = 0;     // after joining
    std::size_t rules = 0;
    std::size_t bytes = 0;  // of rows and rules
  };
  [[nodiscard]] Size size() const;

 private:
  [[nodiscard]] std::optional<std::uint16_t> rule_number(ImageAddr pc) const;

  struct Known {
    CompactRule compact;
    std::uint64_t raw;
  };
  ImageAddr base_;
  Format format_ = Format::kEndBit;
  std::size_t entries_ = 0;
  std::vector<std::uint32_t> starts_;  // from base_, sorted
  std::vector<std::uint16_t> numbers_;
  std::vector<Known> rules_;
};

}  // namespace ringside::unwind::orc
