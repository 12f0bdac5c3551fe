#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/types.h"
#include "wire/capture.h"

namespace ringside::unwind {

// Tracers of a kernel (Linux's function_graph, kretprobes, rethook) replace the return address of a
// function that was just called by that of code of their own, a hook, and put the original away:
// in a record for each function that has not returned. An adapter's description of one hook, and of
// what its recipe copies of the records. Offsets are in bytes from the start of a record's copy.
struct ReturnHook {
  enum class Records : std::uint8_t {
    kNone,         // not copied: stacks end at the hook
    kArray,        // the state is the index of the newest record, -1 where there is none
    kShadowStack,  // the state is how many words are in use; the last of them has in its lower 10
                   // bits how many words before it the newest record begins (Linux 6.11 and later)
    kList,         // a piece for each, the newest first; the state is not looked at
  };

  GuestVirt start;
  GuestVirt end;
  // No table describes its code, and that keeps no frame: what it uses of the stack is found by its
  // instructions, and the frame pointer is that of the code that it returns to.
  bool has_no_frame = false;
  Records records = Records::kNone;
  std::uint16_t state_tag = 0;  // MemoryPiece::tag; copied whether or not there are records
  std::uint16_t records_tag = 0;
  std::uint32_t record_size = 0;  // bytes; kArray only
  std::uint32_t return_offset = 0;
  std::optional<std::uint32_t> function_offset = {};
  // Each is the address of the slot that had the return address, or the frame pointer that the
  // caller had; 0 where it says nothing.
  std::vector<std::uint32_t> frame_offsets = {};
};

// A return address that a tracer has put away.
struct HookedReturn {
  GuestVirt address;
  std::optional<GuestVirt> function;  // an address near the start of the one that was called
  std::vector<std::uint64_t> frames;  // that are not 0
  bool is_removed = false;            // the newest before this moment: the hook is about to use it
};

// The records in a capture, the newest first; at the front the one that was removed last, where
// that is still there. Nothing where they were not copied.
[[nodiscard]] std::optional<std::vector<HookedReturn>> hooked_returns(const ReturnHook& hook,
                                                                      const wire::Capture& capture);

}  // namespace ringside::unwind
