#pragma once

#include "base/byte_reader.h"

namespace ringside::unwind::x86 {

// Padding that compilers and assemblers put between functions, and before loops: nop in its forms
// of one and more bytes, and i386's lea that changes nothing.
[[nodiscard]] bool begins_with_padding(Bytes code);
[[nodiscard]] bool ends_with_padding(Bytes code);

}  // namespace ringside::unwind::x86
