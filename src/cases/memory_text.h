#pragma once

#include <string>

#include "base/result.h"
#include "cases/text_lines.h"
#include "wire/capture.h"

// The memory of a capture as text: one line "piece ADDRESS KIND SIZE of ASKED-FOR" a piece, with
// sizes in bytes, and behind it the piece's bytes, in the order in which they lie in memory:
//
//     piece 0xffffc9000044bf58 current-stack 136 of 2048
//     0xffffc9000044bf58  0200000000000000 50336ddefc7f0000 d81d5e0000000000 d0336ddefc7f0000
//     0xffffc9000044bf78  zeros 96
//     0xffffc9000044bfd8  76ef4c0000000000
//
// Each line says where its bytes lie, so that none can be missing. SIZE is less than ASKED-FOR
// where memory ended.
namespace ringside::cases {

// Limit for all pieces of a case together. A recording's block, which holds a whole capture, is
// smaller (recording/block.h); a wrong line "zeros" does not take more.
inline constexpr std::size_t kMaxMemory = 16 << 20;  // bytes

[[nodiscard]] std::string memory_text(const wire::Capture& capture);
// Adds the pieces of `lines` to `capture`. Error kFormat names the line.
[[nodiscard]] Result<void> parse_memory(TextLines lines, wire::Capture& capture);

}  // namespace ringside::cases
