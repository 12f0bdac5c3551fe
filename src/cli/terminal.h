#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace ringside::cli {

// Whatever stands in texts from outside, a terminal gets nothing that drives it (base/text.h): all
// that ringside writes for people goes through here, through app/messages.h or through an
// exporter's FileSink.

// Takes the place of standard streams that are closed: no file that is opened later becomes one of
// them. Each is open the wrong way, so that its use is an error as before.
void occupy_standard_streams();

// Text on standard output, at once. After a first failure nothing more is written.
void print(std::string_view text);
// That failure: print() that cannot write makes the exit status 1, whichever verb it was.
[[nodiscard]] Result<void> print_result();

[[nodiscard]] bool output_is_terminal();  // standard output
// Cells of a line: as $COLUMNS says, else as the terminal does that standard output is, else 80;
// at least 40, for less holds no table.
[[nodiscard]] std::size_t line_width();

}  // namespace ringside::cli
