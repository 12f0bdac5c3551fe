#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "elf/elf_file.h"
#include "unwind/cfi/section.h"
#include "unwind/rule.h"

namespace ringside::unwind::cfi {

// The call-frame information of one image: .eh_frame and .debug_frame, indexed once by a walk over
// their entries (70,000 of a vmlinux: about 20 ms), their programs run only for the addresses that
// are asked for. .eh_frame_hdr is not needed. Of overlapping FDEs the innermost answers; where both
// sections know an address, .eh_frame does.
class Table {
 public:
  explicit Table(std::shared_ptr<const elf::ElfFile> file);

  struct Found {
    Rule rule;
    const FrameSection* section;  // that the rule's expressions lie in
  };
  // Nothing where no FDE covers `pc`, or its program is damaged.
  [[nodiscard]] std::optional<Found> find(ImageAddr pc) const;
  // How many FDEs there are.
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    ImageAddr start;
    std::uint64_t length;
    std::uint32_t offset;
  };
  struct Indexed {
    FrameSection section;
    std::vector<Entry> entries;  // sorted by start
  };
  void add(const elf::Section& section, SectionKind kind);
  [[nodiscard]] static const Entry* entry_at(const Indexed& indexed, ImageAddr pc);

  std::shared_ptr<const elf::ElfFile> file_;
  std::vector<std::unique_ptr<Indexed>> sections_;
};

}  // namespace ringside::unwind::cfi
