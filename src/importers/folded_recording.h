#pragma once

#include <span>

#include "importers/format.h"

namespace ringside::importers {

// Folded stacks, as folded_text.h describes them, as a recording: each line is one sample of
// COUNT, and its number among the samples is its time. A count may be negative. Frames have names
// only. A recording of it shows the same as read_folded_text() gives, but for stacks of more than
// 512 frames: the outer ones are left out.

// kFits where is_folded_text() says so.
[[nodiscard]] Likeness folded_likeness(const Input& input, const ImportOptions& options);

// Takes one file. Left out, and counted: lines that are no stacks, and counts beyond what a sum can
// hold. Errors: those of survey_folded().
[[nodiscard]] Result<Imported> import_folded(std::span<const Input> inputs,
                                             const ImportOptions& options, Target& target);

}  // namespace ringside::importers
