#pragma once

#include <span>

#include "importers/format.h"

namespace ringside::importers {

// Files of speedscope (speedscope.app/file-format-schema.json, as of speedscope 1.25), plain or
// compressed with gzip: profiles of weighted stacks ("sampled") or of calls with their begin and
// end ("evented"), and the frames that they share. speedscope's own export and ringside's are of
// that format, and many other programs write it.
//
// Profiles of one unit become one source, and each of several profiles is a thread of its own. A
// unit of time makes samples with a time: the sum of the weights in front, or where an event is.
// Samples of other units have their number for a time. In ringside's own files each value of each
// source is a source again, and threads are what they were.

// kCertain where the schema stands near the file's beginning or end.
[[nodiscard]] Likeness speedscope_likeness(const Input& input, const ImportOptions& options);

// Takes one file. Samples with frames that there are none of, and events that close a frame which
// is not open, are left out.
[[nodiscard]] Result<Imported> import_speedscope(std::span<const Input> inputs,
                                                 const ImportOptions& options, Target& target);

}  // namespace ringside::importers
