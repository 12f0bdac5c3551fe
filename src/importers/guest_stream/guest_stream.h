#pragma once

#include "importers/format.h"

namespace ringside::importers {

// Streams that the guest library has drained from its rings (wire/GUEST_RING.md): one of all CPUs,
// or several. Samples, allocations and events come in the order of the guest's clock. Its rate is
// that of options.counter_hz, or the stream's own; where neither is known, times are ticks.
//
// Where a stream has the address of a symbol that options.kernel has, that kernel is placed by it.
[[nodiscard]] Likeness guest_stream_likeness(const Input& input, const ImportOptions& options);
[[nodiscard]] Result<Imported> import_guest_stream(std::span<const Input> inputs,
                                                   const ImportOptions& options, Target& target);

}  // namespace ringside::importers
