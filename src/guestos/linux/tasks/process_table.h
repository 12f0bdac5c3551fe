#pragma once

#include <vector>

#include "guestos/linux/tasks/process_fields.h"
#include "guestos/linux/types/kernel_reader.h"
#include "guestos/linux/types/linux_types.h"
#include "guestos/process_source.h"

namespace ringside::guestos {

// All threads but the idle ones, by process and thread id, beginning from any task. Read while the
// guest runs: a list that was changed meanwhile is error kDisturbed or kUnreadable, and a later try
// may succeed; at most a million threads. Others are those of `memory`.
[[nodiscard]] Result<std::vector<GuestThread>> read_threads(const LinuxTypes& types,
                                                            const ProcessFields& fields,
                                                            const KernelReader& read,
                                                            GuestVirt any_task);

}  // namespace ringside::guestos
