#pragma once

#include <span>

#include "importers/format.h"

namespace ringside::importers {

// The Firefox Profiler's processed profile, versions 47 to 70, as JSON or compressed with gzip:
// what profiler.firefox.com, profiler-cli and samply save, and ringside exports.
// https://github.com/firefox-devtools/profiler @ df31314e, src/types/profile.ts and
// docs-developer/CHANGELOG-formats.md.
//
// Samples of all threads become a source for each type of weight, allocations others. A frame is of
// the kernel or of user code where its category is called so; the others do not say. Times are
// those of the profile. Samples without a stack, which the viewer does not count, are ticks that
// failed. Markers and counters are not read.
//
// Ringside's own files have the same ticks by vCPU and by thread: they are joined again.

// kCertain where the profile's meta information is at the beginning. That is so of a raw profile,
// too, which the import refuses.
[[nodiscard]] Likeness firefox_likeness(const Input& input, const ImportOptions& options);

// Takes one file.
[[nodiscard]] Result<Imported> import_firefox(std::span<const Input> inputs,
                                              const ImportOptions& options, Target& target);

}  // namespace ringside::importers
