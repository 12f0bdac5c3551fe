#pragma once

#include <functional>

#include "guestos/process_updates.h"
#include "wire/capture.h"

namespace ringside::session {

// Whether the kernel stack of a capture is the one of the thread whose user code is known.
//
// While a vCPU switches threads the stack is the next one's first, and what says which thread runs
// still the previous one: some 150 instructions of x86's __switch_to() (Linux 6.1), a few
// elsewhere. Then no copied stack lies in that thread's own, and the entry that the kernel's stack
// ends with is of other user code than was saved there. `find_entered` gives that user code's
// registers, by the kernel's stack; it is called only where that is in doubt.
[[nodiscard]] bool is_of_one_thread(const wire::Capture& capture,
                                    const guestos::TaskAttribution& attribution,
                                    const std::function<arch::Registers()>& find_entered);

}  // namespace ringside::session
