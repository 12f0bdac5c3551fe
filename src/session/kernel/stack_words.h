#pragma once

#include <vector>

#include "base/memory_reader.h"
#include "wire/capture.h"

namespace ringside::session {

// Words of the captured stack that may be addresses of code elsewhere, one of each page, from the
// top on.
[[nodiscard]] std::vector<GuestVirt> code_on_stack(const wire::Capture& capture);

// aarch64: where calls have returned to that are over, by what they left below the stack pointer,
// and by the call that lies there in memory; the outermost call first, one of each page. Errors:
// those of `memory`.
[[nodiscard]] Result<std::vector<GuestVirt>> calls_below_stack(const wire::Capture& capture,
                                                               VirtualMemory& memory);

}  // namespace ringside::session
