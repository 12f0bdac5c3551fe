#pragma once

#include <optional>

#include "wire/capture.h"
#include "wire/guest_record.h"

namespace ringside::wire {

// The capture of a sample that the guest has taken: the frames that it has walked, and the pc. A
// sample without frames is idle. The caller sets its time and who ran.
void capture_of(const GuestSample& sample, VcpuId vcpu, Arch arch, Capture& capture);

// Who ran, where the guest has said so. It is valid as long as the capture.
void add_task(const GuestTask& task, Capture& capture);
[[nodiscard]] std::optional<GuestTask> task_of(const Capture& capture);

}  // namespace ringside::wire
