#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "arch/arch_info.h"
#include "elf/image_map.h"
#include "unwind/cfi/table.h"
#include "unwind/code_stepper.h"
#include "unwind/compact_rule.h"
#include "unwind/orc/table.h"
#include "unwind/return_hook.h"
#include "unwind/trap_frame_layout.h"

namespace ringside::unwind {

// A code address as a frame has it. A return address belongs to the call before it, but entry
// layouts ask for the address itself.
struct CodeAddress {
  GuestVirt address;
  bool exact = false;

  [[nodiscard]] GuestVirt lookup() const { return exact ? address : address - 1; }
  [[nodiscard]] std::uint64_t key() const { return address.value << 1 | (exact ? 1 : 0); }
};

// Everything that can say how to step on from an address, in order: trap-frame layouts that
// override tables, ORC, other trap-frame layouts, call-frame information, and the code itself.
// Tables are built when an image is first met.
class RuleSources {
 public:
  RuleSources(const elf::ImageMap& images, const arch::ArchInfo& platform, TableUse use = {});

  void set_entries(std::vector<TrapFrameLayout> entries, std::vector<ReturnHook> hooks);
  // True if images have been added or removed since the last call: what was cached is void.
  [[nodiscard]] bool refresh();

  // The first source's rule that can be had without the code's own exit path: kSlow where only
  // known_at() reports, kNone outside of all code.
  [[nodiscard]] CompactRule compact_at(CodeAddress at);

  // All that is known of an address, for the walk that tracks all registers.
  struct Known {
    struct Candidate {
      Rule rule;
      RuleContext context;
    };
    const elf::Image* image = nullptr;
    std::vector<Candidate> tables;
    CodeRule code;  // empty where a table knows the address, until code_of() has been asked
    bool has_code = false;
    // Hardware may have entered here, and a table describes an ordinary function.
    bool is_handler = false;
  };
  // Cached; valid until the next call.
  [[nodiscard]] Known& known_at(CodeAddress at);
  // Whether a new stack's first return address is this one: it was never called, so that the
  // address is that of the code itself.
  [[nodiscard]] bool starts_stack(GuestVirt address) const;
  // Whether a return address is a function's first byte, and no call stands before it: code has
  // written it there, to be returned to. It belongs to that function, not to the one before it.
  [[nodiscard]] bool is_written_by_code(GuestVirt address) const;
  // The hook that begins there, and the one that has code there; null: none.
  [[nodiscard]] const ReturnHook* hook_at(GuestVirt return_address) const;
  [[nodiscard]] const ReturnHook* hook_around(GuestVirt pc) const;
  // CodeStepper::may_be_called(), cached.
  [[nodiscard]] bool may_be_called(const elf::Image& image, ImageAddr function);
  [[nodiscard]] const CodeRule& code_of(Known& known, CodeAddress at);
  [[nodiscard]] CodeStepper& code() { return *code_; }
  [[nodiscard]] const elf::ImageMap& images() const { return images_; }
  [[nodiscard]] const arch::ArchInfo& platform() const { return platform_; }

 private:
  struct Tables {
    std::optional<orc::Table> orc;
    std::unique_ptr<cfi::Table> cfi;
  };
  [[nodiscard]] Tables& tables_of(const elf::Image& image);
  // Null where it is not to be used. Made late: where ORC knows all, nothing asks for it.
  [[nodiscard]] cfi::Table* cfi_of(const elf::Image& image, Tables& tables);
  [[nodiscard]] const TrapFrameLayout* entry_at(CodeAddress at) const;

  const elf::ImageMap& images_;
  const arch::ArchInfo& platform_;
  TableUse use_;
  std::vector<TrapFrameLayout> entries_;  // sorted by start
  std::vector<ReturnHook> hooks_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Tables>> tables_;  // by image id
  std::unique_ptr<CodeStepper> code_;
  std::unordered_map<std::uint64_t, Known> known_;  // by CodeAddress::key()
  std::unordered_map<std::uint64_t, bool> called_;  // functions that may be, by guest address
  std::uint64_t generation_ = 0;
};

}  // namespace ringside::unwind
