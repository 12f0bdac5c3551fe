#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/types.h"

namespace ringside {

// Which rule found a frame. The first frame of a stack comes from the registers.
enum class FrameSource : std::uint8_t {
  kRegisters,       // the vCPU's own pc
  kCfi,             // DWARF call-frame information
  kFramePointer,    // saved frame pointer
  kInstructions,    // frameless leaf, prologue or epilogue, from the instructions around the pc
  kInterruptFrame,  // what hardware or entry code pushed, at a place that is known
  kGuess,       // an interrupt frame found by its looks; such a stack is never complete for sure
  kOrc,         // Linux's ORC tables
  kGuestsWalk,  // the guest has walked there itself
};
inline constexpr std::size_t kFrameSourceCount = 8;

constexpr const char* name_of(FrameSource source) {
  constexpr const char* kNames[kFrameSourceCount] = {
      "registers",    "call-frame information", "frame pointer",
      "instructions", "interrupt frame",        "guess",
      "ORC",          "the guest itself"};
  return kNames[static_cast<std::size_t>(source)];
}

// Kind of code that a frame runs, for colours and for the words in front of names.
enum class FrameKind : std::uint8_t {
  kKernel,
  kUser,
  kInterrupt,  // kernel code between an interrupt's entry and the code that it interrupted
  kFirmware,
  kGuest,  // of the kernel as a hypervisor
  kCode,   // of an input that does not say of what
};
inline constexpr FrameKind kLastFrameKind = FrameKind::kCode;

// Whether it is code of the kernel.
[[nodiscard]] constexpr bool is_kernel(FrameKind kind) {
  return kind == FrameKind::kKernel || kind == FrameKind::kInterrupt;
}

// One frame of a stack. `address` is the pc itself where `exact` (a leaf, or code that was
// interrupted), else a return address, which belongs to the call before it. In an image whose place
// differs from process to process it is the linked one.
struct Frame {
  GuestVirt address;
  bool exact = false;
  FrameSource source = FrameSource::kRegisters;
  FrameKind kind = FrameKind::kKernel;
  std::uint32_t image = 0;  // whose linked address that is, as the recording numbers it; else 0

  // The address to look a function up with: a return address may already lie behind its function.
  [[nodiscard]] GuestVirt lookup_address() const { return exact ? address : address - 1; }
  bool operator==(const Frame&) const = default;
};

// Why a walk ended. Up to kFirmware the stack is complete.
enum class StopReason : std::uint8_t {
  kEndOfStack,    // nothing is below: a rule, a zero frame pointer, or the stack's memory says so
  kUserMode,      // reached the interrupt or system-call frame of user code
  kUser,          // a sample of user code: one frame until its process is known; of a guest's code
  kFirmware,      // a sample of firmware: one frame
  kTruncated,     // the stack goes on behind the bytes that were copied
  kUnreadable,    // the stack leads to memory that is not mapped
  kNoRule,        // no source has a rule for this pc
  kBadAddress,    // the return address is not in code
  kNotAdvancing,  // the stack pointer would not move on, or is misaligned
  kTooDeep,       // more frames than the limit
  kNoRegisters,   // no pc or stack pointer of the code
  kGuessed,       // reached an end, but by way of a frame that was guessed
  kLostRegister,  // the rule needs a register whose value is not known in this frame
  kNotCopied,     // it goes on on a stack of which the capture has no copy
};
inline constexpr std::size_t kStopReasonCount = 14;
inline constexpr StopReason kLastStopReason{kStopReasonCount - 1};

constexpr bool is_complete(StopReason reason) { return reason <= StopReason::kFirmware; }

constexpr const char* name_of(StopReason reason) {
  constexpr const char* kNames[kStopReasonCount] = {
      "end of stack",       "reached user mode", "user code",      "firmware",
      "truncated",          "unreadable memory", "no unwind rule", "bad return address",
      "not advancing",      "too deep",          "no registers",   "guessed frame",
      "register not known", "stack not copied"};
  return kNames[static_cast<std::size_t>(reason)];
}

// A place in memory that holds the stack pointer of another stack, for instance the top slot of an
// interrupt stack. Learnt by a walk that could not go on, so that the next capture copies that
// stack too.
struct StackLink {
  GuestVirt slot;    // where the stack pointer is stored
  GuestVirt target;  // its value this time
};

// Whether a tracer of the kernel had put return addresses of a stack away (unwind/return_hook.h).
enum class HookedReturns : std::uint8_t {
  kNone,
  kRestored,
  kNotCopied,  // the walk ended at one, and the capture has no copy of where it is
};

// An unwound stack, leaf first.
struct Stack {
  std::vector<Frame> frames;
  StopReason stop = StopReason::kNoRegisters;
  GuestVirt stopped_at;                   // the pc, or the memory, that ended the walk
  std::optional<StackLink> missing_link;  // set with kNotCopied where that stack's slot was found
  HookedReturns hooked_returns = HookedReturns::kNone;
};

}  // namespace ringside
