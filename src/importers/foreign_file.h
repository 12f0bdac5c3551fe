#pragma once

#include <string_view>

#include "base/byte_reader.h"

namespace ringside::importers {

// Recognizes files of other programs that ringside does not read, and that are given in place of
// ones that it reads. The sentence, which stands behind a file's name, has what it is and what to
// do: "is text in UTF-16: …". It is empty for all other files.
[[nodiscard]] std::string_view foreign_file(Bytes bytes);

}  // namespace ringside::importers
