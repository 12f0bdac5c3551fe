#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/arch_info.h"
#include "elf/elf_file.h"
#include "unwind/code_unit.h"
#include "unwind/rule.h"
#include "unwind/x86/decoder.h"

namespace ringside::unwind::x86 {

// Where the frame is just before an instruction, relative to the canonical frame address (CFA, the
// stack pointer before the call that entered the function; the return address is the word below
// it).
struct FrameState {
  enum class FramePointer : std::uint8_t {
    kCaller,  // still the caller's
    kFrame,   // CFA - frame_offset
    kOther,
  };
  static constexpr std::int32_t kUnknownDepth = INT32_MIN;

  std::int32_t depth = 0;  // CFA - stack pointer; a word where the function begins
  FramePointer fp = FramePointer::kCaller;
  std::int32_t frame_offset = 0;
  std::int32_t saved_fp = 0;  // CFA - the slot that holds the caller's frame pointer; 0: none
  // The same for the other registers that functions save, in the order of their numbers (rbx, r12
  // to r15; ebx, esi, edi), which entry stubs keep a stack pointer in; a bit of `changed` is set
  // while the register itself is not the caller's.
  std::array<std::int32_t, 5> saved{};
  std::uint8_t changed = 0;
  // The frame was made on a realigned stack. "CFA" above is then two words above the frame pointer,
  // where a copy of the return address lies; GCC keeps the true one in a register that it saves.
  bool realigned = false;
  std::uint8_t cfa_register = kNoRegister;  // holds the true CFA
  std::int32_t cfa_slot = 0;                // "CFA" - the slot that holds it; 0: none

  [[nodiscard]] bool knows_depth() const { return depth != kUnknownDepth; }
  bool operator==(const FrameState&) const = default;
};

// The frame at every instruction of a function, found by following its control flow once: GCC gives
// leaf functions no frame, moves prologues behind early exits, and puts epilogues in the middle, so
// that neither "rbp holds the frame" nor a linear look from the start is right everywhere.
//
// A merge of two flows keeps the state that came first; flows that go on behind a call come last,
// since the call may never return and what follows it may be another block.
class FrameAnalysis {
 public:
  FrameAnalysis(const elf::ElfFile& file, const CodeUnit& unit, const arch::ArchInfo& platform,
                Decoder& decoder);

  // The state at the instruction that holds `at`, which for a return address is the byte before it.
  // Nothing where the flow does not reach.
  [[nodiscard]] std::optional<FrameState> at(ImageAddr at) const;
  // Whether no flow leads to the instruction that holds `at` but a jump that is not known, whose
  // state it was given. It may be another function's.
  [[nodiscard]] bool is_swept(ImageAddr at) const;
  // Where the unit is left by a jump.
  [[nodiscard]] const std::vector<ImageAddr>& tail_jumps() const { return tail_jumps_; }
  // Keeps a frame pointer as compiled code does: it points to the caller's.
  [[nodiscard]] bool makes_frame() const { return makes_frame_; }
  // The same where nobody says that the code is one function from its first byte on. It is
  // determined by its returns, which must give back the stack and the registers as they were found.
  // Only what lies where another function may begin, behind a call, may lead to other returns
  // instead: that call never returns.
  [[nodiscard]] std::optional<FrameState> checked_at(ImageAddr at) const;
  // Such a return is reached.
  [[nodiscard]] bool returns() const { return segments_.front().leads_to_return; }
  // Has an iret or sysret: it may be the code that hardware enters.
  [[nodiscard]] bool returns_from_interrupt() const { return returns_from_interrupt_; }
  [[nodiscard]] std::size_t memory_use() const;  // bytes

 private:
  struct Known {
    ImageAddr address;
    std::uint8_t size;
    FrameState state;
    std::uint32_t segment;
  };
  // Flow up to calls, returns and jumps out of the unit; the first one from the unit's start.
  struct Segment {
    std::uint32_t parent = 0;     // that of the call
    bool may_be_another = false;  // function: it begins where compilers align them
    bool returns = false;         // as it should
    bool fails = false;           // returns, but not so
    // It, or a segment behind its calls.
    bool leads_to_return = false;
    bool leads_to_failure = false;
    bool is_sound = true;
    bool is_swept = false;
  };
  friend class Flow;

  [[nodiscard]] const Known* known_at(ImageAddr at) const;

  std::vector<Known> known_;  // sorted by address
  std::vector<Segment> segments_;
  std::vector<ImageAddr> tail_jumps_;
  bool is_cut_ = false;  // there is too much code
  bool makes_frame_ = false;
  bool returns_from_interrupt_ = false;
};

// The rule that a state stands for; nothing if neither the stack pointer nor the frame pointer
// leads to the caller.
[[nodiscard]] std::optional<Rule> rule_of(const FrameState& state, const arch::ArchInfo& platform);

}  // namespace ringside::unwind::x86
