#pragma once

#include <span>
#include <vector>

#include "elf/elf_file.h"
#include "unwind/cfi/section.h"

namespace ringside::cases {

struct CodeRange {
  ImageAddr start;
  ImageAddr end;  // behind the last byte
};

// Call-frame information of some code only: the FDEs that overlap one of `ranges` (sorted, apart
// from each other) and their CIEs, as a section of the same kind that lies at the same address.
// Pointers of FDEs to their CIE and to their function are corrected; those to personality routines
// and language-specific data, which no unwinder of stacks reads, are not.
[[nodiscard]] std::vector<std::byte> minimize_cfi(const elf::Section& section,
                                                  unwind::cfi::SectionKind kind,
                                                  std::uint8_t address_size,
                                                  std::span<const CodeRange> ranges);

[[nodiscard]] bool overlaps(std::span<const CodeRange> ranges, ImageAddr start, ImageAddr end);

}  // namespace ringside::cases
