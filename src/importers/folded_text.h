#pragma once

#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "profile/profile.h"
#include "symbols/demangle.h"

namespace ringside::importers {

// Whether the text is of folded stacks: most lines of its beginning have a count behind a blank.
// Empty lines and comments, which begin with '#', do not count.
[[nodiscard]] bool is_folded_text(Bytes bytes);

// Folded stacks as stackcollapse-perf.pl, inferno and `ringside export` write them: one stack a
// line, "outermost;…;leaf COUNT". Where counts have fractions all of them are multiplied by a power
// of ten, and Profile::warnings has a sentence about it. The suffixes of frames that
// stackcollapse-perf.pl --all gives are understood: "_[k]" kernel, "_[i]" inlined, "_[j]" compiled
// at run time. Other frames are of Kind::kCode. Comments are skipped. Other lines that are no
// stacks are left out, and Profile::damage has a sentence about them. `name` stands in messages.
// Mangled names are shown in that style.
// Errors: those of survey_folded().
[[nodiscard]] Result<profile::Profile> read_folded_text(
    Bytes bytes, const std::string& name,
    symbols::DemangleStyle style = symbols::DemangleStyle::kFull);

}  // namespace ringside::importers
