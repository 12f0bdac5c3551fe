#pragma once

#include <span>

#include "importers/format.h"

namespace ringside::importers {

// perf.data, as `perf record` writes it into a file (magic PERFILE2, sections) or a pipe
// (records alone), little endian. Sources: include/uapi/linux/perf_event.h, tools/perf/
// Documentation/perf.data-file-format.txt and tools/perf/util/{header,session,event,machine}.c of
// Linux 6.1 and 6.18; ringside's own exporter writes it, too (docs/perf-data.md).
//
// An event becomes a source, whose value is the period. Frames are addresses: those of the kernel
// where it ran, those of programs as they are linked. Names come from the files when the recording
// is read; those that nothing but this machine has (kallsyms, perf-PID.map) are recorded.
[[nodiscard]] Likeness perf_data_likeness(const Input& input, const ImportOptions& options);
[[nodiscard]] Result<Imported> import_perf_data(std::span<const Input> inputs,
                                                const ImportOptions& options, Target& target);

}  // namespace ringside::importers
