#pragma once

#include "importers/format.h"

namespace ringside::importers {

// The rings of Redox' in-kernel profiler, one file for each CPU: words of 8 bytes without a header,
// as read from debug:profiling-N or as they are in the guest's memory. Formats A (to 2026-06-02)
// and B (from 2026-06-03) are those of src/profiling.rs of redox-os/kernel @ 663e6641; see
// wire/redox/ring_sample.h. Addresses stay addresses.
//
// Samples of all CPUs come in the order of their time stamp counters. With options.counter_hz times
// are nanoseconds since the first of them, else ticks. Contexts are processes, named by
// options.context_names.
[[nodiscard]] Likeness redox_a_likeness(const Input& input, const ImportOptions& options);
[[nodiscard]] Likeness redox_b_likeness(const Input& input, const ImportOptions& options);
[[nodiscard]] Result<Imported> import_redox_a(std::span<const Input> inputs,
                                              const ImportOptions& options, Target& target);
[[nodiscard]] Result<Imported> import_redox_b(std::span<const Input> inputs,
                                              const ImportOptions& options, Target& target);

}  // namespace ringside::importers
