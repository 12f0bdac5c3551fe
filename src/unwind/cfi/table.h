#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "arch/arch_info.h"
#include "elf/elf_file.h"
#include "unwind/cfi/section.h"
#include "unwind/compact_rule.h"
#include "unwind/rule.h"

namespace ringside::unwind::cfi {

// The call-frame information of one image: .eh_frame and .debug_frame, indexed once by a walk over
// their entries (70,000 of a vmlinux: about 20 ms), their programs run function by function when
// the first address of one is asked for, into rows of 6 bytes. .eh_frame_hdr is not needed. The
// innermost of overlapping FDEs answers; where both sections cover an address, .eh_frame does.
class Table {
 public:
  explicit Table(std::shared_ptr<const elf::ElfFile> file, const arch::ArchInfo& platform);

  // kNone where no FDE covers `pc`, or its program is damaged before it.
  [[nodiscard]] CompactRule find_compact(ImageAddr pc);

  struct Found {
    Rule rule;
    const FrameSection* section;  // that the rule's expressions lie in
  };
  // The same with all registers; runs the program every time.
  [[nodiscard]] std::optional<Found> find(ImageAddr pc) const;

  struct Function {
    ImageAddr start;
    std::uint64_t size = 0;
  };
  // The functions of all FDEs, in the order of their sections and addresses.
  [[nodiscard]] std::vector<Function> functions() const;

  struct Size {
    std::size_t functions = 0;       // FDEs
    std::size_t rows = 0;            // compiled so far
    std::size_t rules = 0;           // different ones
    std::size_t bytes = 0;           // of rows and rules
    std::size_t bytes_of_index = 0;  // of the functions' index
  };
  [[nodiscard]] Size size() const;

 private:
  static constexpr std::uint32_t kNotCompiled = 0xffffffff;
  static constexpr std::uint16_t kSlowRow = 0xffff;

  struct Entry {
    ImageAddr start;
    std::uint32_t length;
    std::uint32_t offset;  // of the FDE
    std::uint32_t first_row = kNotCompiled;
    std::uint32_t rows = 0;
  };
  struct Indexed {
    FrameSection section;
    std::vector<Entry> entries;  // sorted by start
  };
  void add(const elf::Section& section, SectionKind kind);
  void compile(const FrameSection& section, Entry& entry);
  [[nodiscard]] static Entry* entry_at(Indexed& indexed, ImageAddr pc);

  std::shared_ptr<const elf::ElfFile> file_;
  const arch::ArchInfo& platform_;
  std::vector<std::unique_ptr<Indexed>> sections_;
  // The rows of all compiled functions, each function's together: offsets from its start, and rule
  // numbers.
  std::vector<std::uint32_t> row_starts_;
  std::vector<std::uint16_t> row_rules_;
  RuleSet rules_;
};

}  // namespace ringside::unwind::cfi
