#pragma once

#include "base/atomic_folder.h"
#include "base/result.h"
#include "base/types.h"
#include "exporters/perf/perf_images.h"

namespace ringside::exporters::perf {

// Writes the names of all images for those that read perf.data without the guest's files:
// ".build-id/12/34…", an ELF file of functions for each image, as `perf --buildid-dir` takes it;
// "debug/PATH/1234…", links to those of programs, for hotspot's --debug; "kallsyms", the kernel's
// names, for hotspot's --kallsyms.
[[nodiscard]] Result<void> write_symbol_files(const PerfImages& images, Arch arch,
                                              AtomicFolder& folder);

}  // namespace ringside::exporters::perf
