#pragma once

#include "importers/format.h"

namespace ringside::importers {

// A profile of pprof (github.com/google/pprof, proto/profile.proto, 2024), compressed with gzip or
// not: Go's runtime/pprof, perf_to_profile, Pyroscope, Parca, ringside's own export and others
// write it.
//
// The sample types are the values of one source, that which pprof shows first. A sample stands for
// all of one stack and its labels: its values are sums, and it has no time, so that samples are
// numbered. Frames have the names, source lines and addresses of their location, inlined functions
// one each; a location without a function is an address. SampleOwner has the labels that say where
// a sample was taken; others are left out. With ringside's own labels, or where a mapping is of a
// kernel, kernel and user code are told apart.
//
// A compressed profile may have 192 MiB when it is not, so that less than 1 GB of memory is taken.
[[nodiscard]] Likeness pprof_likeness(const Input& input, const ImportOptions& options);

// The first input. Errors: kFormat where no sample is to be read, kTruncated where that is because
// its end with the names is missing; the target's.
[[nodiscard]] Result<Imported> import_pprof(std::span<const Input> inputs,
                                            const ImportOptions& options, Target& target);

}  // namespace ringside::importers
