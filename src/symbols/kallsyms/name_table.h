#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "symbols/kallsyms/token_table.h"

namespace ringside::symbols::kallsyms {

// The compressed names: per symbol a length and that many codes (kallsyms_num_syms,
// kallsyms_names and kallsyms_markers).
struct NameTable {
  std::size_t count_at = 0;  // of kallsyms_num_syms, from the start of the bytes
  std::size_t begin = 0;     // of the first name
  std::size_t end = 0;       // of the last name
  std::uint32_t count = 0;
  std::size_t alignment = 0;  // of all of kallsyms' labels
  bool long_lengths = false;  // a length above 127 takes two bytes (ULEB128, since Linux 6.1)
};

// One name's codes. `at` moves to the next name. Nothing at the end of the bytes.
[[nodiscard]] std::optional<Bytes> next_name(Bytes bytes, std::size_t& at, bool long_lengths);

// The names in front of the tokens. Found backwards: the markers are numbers that rise from 0, each
// the place of every 256th name; they begin where the names end; and the names confirm each of
// them. Between markers and tokens lie kallsyms_seqs_of_names in Linux 6.2 and 6.3. Tables of 512
// names or less are not found. `budget` is the number of places that may be looked at, and is used
// up.
[[nodiscard]] std::optional<NameTable> find_names(Bytes bytes, const TokenTable& tokens,
                                                  unsigned pointer_size, std::uint64_t& budget);

}  // namespace ringside::symbols::kallsyms
