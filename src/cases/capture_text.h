#pragma once

#include <string>

#include "base/result.h"
#include "cases/text_lines.h"
#include "wire/capture.h"

// A capture without its memory as text; memory_text.h is for that.
namespace ringside::cases {

// One line "NAME VALUE" each; what is not a register comes first.
[[nodiscard]] std::string registers_text(const wire::Capture& capture);
// The inverse. Error kFormat names the line.
[[nodiscard]] Result<wire::Capture> parse_registers(TextLines lines);

}  // namespace ringside::cases
