#pragma once

#include <span>

#include "importers/format.h"

namespace ringside::importers {

// The JSON of Asterinas' profiler (asterinas @ 60494858, osdk/src/commands/profile.rs), which
// ringside writes, too: {"stack_traces":[{"0":["leaf",…,"root"],"1":[…]},…]}. An array of captures,
// each an object with the stacks of CPUs by number. Functions are called as the profiler cleans
// names up, and blanks in names stay; "??" is a frame that it found no name for. Nothing says which
// frames are the kernel's: what ringside writes has those of programs, too. There are neither
// addresses nor times: a capture is a tick, and its number is the time of its samples. One without
// a stack is a skipped sample of no vCPU.

// kCertain where "stack_traces" is the first member.
[[nodiscard]] Likeness asterinas_json_likeness(const Input& input, const ImportOptions& options);

// Takes one file. CPUs whose key is no number below 65535, whose stack is no array of strings, or
// that the capture has already, are left out.
[[nodiscard]] Result<Imported> import_asterinas_json(std::span<const Input> inputs,
                                                     const ImportOptions& options, Target& target);

}  // namespace ringside::importers
