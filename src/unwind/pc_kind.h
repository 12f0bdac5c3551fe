#pragma once

#include <cstdint>

namespace ringside::unwind {

// The kind of an address on a stack.
enum class PcKind : std::uint8_t {
  kReturnAddress,  // of a frame that has called
  kExact,          // of an instruction that is about to run, or was interrupted
  kInSystemCall,   // behind the instruction that has called the kernel, which has not returned
};

}  // namespace ringside::unwind
