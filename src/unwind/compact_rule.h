#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "arch/arch_info.h"
#include "unwind/rule.h"

namespace ringside::unwind {

// The rules that almost every frame has, in 24 bytes: a CFA from the stack or frame pointer, and
// where the caller's pc, stack pointer, frame pointer and link register lie from there. A Rule that
// needs more is kSlow: the walk starts again with all registers tracked.
struct CompactRule {
  enum class Kind : std::uint8_t {
    kNone,   // no source knows this address
    kCall,   // to a caller
    kFrame,  // to interrupted code, through a frame of saved registers
    kEnd,    // nothing is below
    kUser,   // user code is below
    kSlow,
  };
  enum class Base : std::uint8_t {
    kStackPointer,
    kFramePointer,
    kOtherStack,  // the word on top of the stack points to the stack that was left
  };
  enum class Place : std::uint8_t { kLost, kSame, kSaved, kLink };

  std::int32_t cfa_offset = 0;
  std::int16_t pc_offset = 0;
  std::int16_t sp_offset = 0;  // of a kFrame's saved stack pointer
  std::int16_t fp_offset = 0;
  std::int16_t link_offset = 0;    // of a kFrame's saved link register
  std::int16_t status_offset = 0;  // of a kFrame with has_status
  Kind kind = Kind::kNone;
  Base base = Base::kStackPointer;
  Place pc = Place::kLost;  // kSaved, or kLink for code that has not saved it
  Place fp = Place::kLost;
  Place sp = Place::kLost;    // kSame: the CFA
  Place link = Place::kLost;  // kSaved in a kFrame only
  FrameSource source = FrameSource::kCfi;
  bool has_status : 1 = false;
  bool ends_at_zero_fp : 1 = true;  // as in Rule
  // Code leads to this kFrame on x86, but hardware may not have entered there. It counts only if it
  // looks like a frame that hardware made.
  bool checks_frame : 1 = false;
  // The stack pointer is what it is, also where it is at a link to another stack.
  bool knows_links : 1 = false;
  // A kCall from the stack or frame pointer whose return address is saved: compact() finds out.
  bool is_plain : 1 = false;

  bool operator==(const CompactRule&) const = default;
};

// kSlow if the rule does not fit.
[[nodiscard]] CompactRule compact(const Rule& rule, const arch::ArchInfo& platform);

// Tables hold each rule once, and in their rows its number.
class RuleSet {
 public:
  static constexpr std::size_t kLimit = 65536;

  // Its number; nothing when the set is full.
  [[nodiscard]] std::optional<std::uint16_t> add(const CompactRule& rule);
  [[nodiscard]] const CompactRule& operator[](std::uint16_t number) const { return rules_[number]; }
  [[nodiscard]] std::size_t size() const { return rules_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const CompactRule& rule) const noexcept;
  };
  std::vector<CompactRule> rules_;
  std::unordered_map<CompactRule, std::uint16_t, Hash> numbers_;
};

}  // namespace ringside::unwind
