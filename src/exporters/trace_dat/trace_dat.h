#pragma once

#include "base/result.h"
#include "exporters/format.h"
#include "exporters/sink.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters {

// The file of `trace-cmd record` in version 6, which trace-cmd 3 and KernelShark 2 read: a
// buffer of ftrace's events for each vCPU, and one more for what was sampled on none. The format:
// trace-cmd.dat.v6.5, trace-cmd's page of the manual. docs/formats.md lists the events.
[[nodiscard]] Result<void> write_trace_dat(profile::DetailedProfile& profile,
                                           const ExportOptions& options, Sink& sink);

}  // namespace ringside::exporters
