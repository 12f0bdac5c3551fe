#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/capture.h"

// A capture as two texts and the bytes of its memory. tests/unwind-cases/README.md shows them.
namespace ringside::cases {

// One line "NAME VALUE" each; what is not a register comes first.
[[nodiscard]] std::string registers_text(const wire::Capture& capture);
// One line "ADDRESS SIZE KIND REQUESTED" a piece; the bytes follow each other in the order of
// the lines.
[[nodiscard]] std::string memory_text(const wire::Capture& capture);

// The inverse: sets everything but the memory. Errors name `name` and the line.
[[nodiscard]] Result<wire::Capture> parse_registers(std::string_view text, const std::string& name);
// Sets the memory. Error kTruncated where `bytes` are not as many as the lines say.
[[nodiscard]] Result<void> parse_memory(std::string_view text, Bytes bytes, const std::string& name,
                                        wire::Capture& capture);

}  // namespace ringside::cases
