#pragma once

#include "exporters/format.h"

namespace ringside::exporters {

// A profile as pprof reads it (github.com/google/pprof, proto/profile.proto), compressed with gzip:
// one sample for each stack, thread and vCPU, with all values of all sources. Labels: pid, tid,
// comm, cgroup, vcpu, mode.
[[nodiscard]] Result<void> write_pprof(profile::DetailedProfile& profile,
                                       const ExportOptions& options, Sink& sink);

}  // namespace ringside::exporters
