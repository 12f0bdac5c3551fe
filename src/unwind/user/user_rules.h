#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>

#include "arch/arch_info.h"
#include "unwind/cfi/table.h"
#include "unwind/compact_rule.h"
#include "unwind/pc_kind.h"
#include "unwind/step.h"
#include "unwind/x86/decoder.h"

namespace ringside::unwind {

// How to step on from the code of one file, by its linked addresses.
class UserRules {
 public:
  UserRules(std::shared_ptr<const elf::ElfFile> file, const arch::ArchInfo& platform);
  ~UserRules();

  struct Known {
    // The rule in short; kNone where no source knows the address. It comes first: most walks need
    // no more.
    CompactRule compact;
    // No table knows the address, and the file's code keeps frame pointers: one of zero marks the
    // outermost frame (psABIs).
    bool ends_at_zero_fp = false;
    // Where the function begins, or ends, was found by the looks of code: a return address must
    // show that the rule is right.
    bool checks_call = false;
    // Where the program, or the dynamic loader, is entered; no table knows the address.
    bool is_entry = false;
    std::optional<Rule> rule;
    const cfi::FrameSection* section = nullptr;
  };
  // Valid until the next call.
  [[nodiscard]] const Known& at(ImageAddr pc, PcKind kind);

  // Bytes, of the file and of what was found out about it.
  [[nodiscard]] std::size_t memory_use() const;

 private:
  using Remembered = std::unordered_map<std::uint64_t, Known>;  // by pc
  // Functions of x86 that no table describes.
  class Instructions;

  [[nodiscard]] Known look_up(ImageAddr pc, PcKind kind);

  std::shared_ptr<const elf::ElfFile> file_;
  const arch::ArchInfo& platform_;
  cfi::Table cfi_;
  std::unique_ptr<Instructions> instructions_;  // made when first asked
  std::array<Remembered, 3> known_;             // by PcKind
};

}  // namespace ringside::unwind
