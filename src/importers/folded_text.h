#pragma once

#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "profile/profile.h"

namespace ringside::importers {

// Whether the text, or the beginning of one, is of folded stacks: its first line that is not empty
// has a count behind a blank.
[[nodiscard]] bool is_folded_text(Bytes bytes);

// Folded stacks as stackcollapse-perf.pl, inferno and `ringside export` write them: one stack a
// line, "outermost;…;leaf COUNT". A count may have a fraction, which is rounded. The suffixes of
// frames that stackcollapse-perf.pl --all gives are understood: "_[k]" kernel, "_[i]" inlined,
// "_[j]" compiled at run time. Other frames are of Kind::kCode. Lines that are no stacks are left
// out, and Profile::damage has a sentence about them. `name` stands in messages.
// Errors, with the line: kFormat where no line is a stack, or each has two counts.
[[nodiscard]] Result<profile::Profile> read_folded_text(Bytes bytes, const std::string& name);

}  // namespace ringside::importers
