#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/byte_reader.h"

namespace ringside::symbols::kallsyms {

// The tokens that the 256 codes in a compressed name stand for (kallsyms_token_table and
// kallsyms_token_index).
struct TokenTable {
  std::size_t begin = 0;  // of the tokens, from the start of the bytes
  std::size_t end = 0;    // of the index
  std::array<std::string_view, 256> tokens;
};

// Alignments of kallsyms' labels, which the directive `.align 8` (until 5.0) or `.balign 8` makes:
// 8 or 2^8 bytes on 64-bit kernels, 4 or 2^4 on 32-bit ones, 4 on all from 7.0 on.
inline constexpr std::array<std::size_t, 4> kAlignments{8, 4, 256, 16};

constexpr std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// The first token table that begins at or after `from`. It is known by the tokens "0" to "9":
// every character that occurs in a name stands for itself (scripts/kallsyms.c,
// insert_real_symbols_in_table), and kernels' names have all digits. The index behind it confirms.
[[nodiscard]] std::optional<TokenTable> find_token_table(Bytes bytes, std::size_t from);

}  // namespace ringside::symbols::kallsyms
