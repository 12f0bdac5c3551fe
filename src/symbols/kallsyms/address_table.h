#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "symbols/kallsyms/name_table.h"

namespace ringside::symbols::kallsyms {

// How kallsyms_addresses or kallsyms_offsets says where a symbol is (kernel/kallsyms.c,
// kallsyms_sym_address).
enum class Encoding {
  kAbsolute,        // a pointer: until 4.5; later without CONFIG_KALLSYMS_BASE_RELATIVE
  kBaseRelative,    // 32 bits above kallsyms_relative_base: from 4.6 until 6.19
  kPercpuAbsolute,  // the same with CONFIG_KALLSYMS_ABSOLUTE_PERCPU (x86_64 SMP, until 6.14): as a
                    // signed number, from 0 on an absolute value, else base - 1 - number
  kPlaceRelative,   // 32 signed bits from the number's own place: from 7.0 on
};

struct AddressTable {
  Encoding encoding = Encoding::kAbsolute;
  std::size_t begin = 0;             // from the start of the bytes
  std::size_t relative_base_at = 0;  // of kallsyms_relative_base; kBaseRelative, kPercpuAbsolute
  // The value that stands there. 0 in an arm64 or riscv64 Image: the kernel's relocations put it
  // there.
  std::uint64_t relative_base = 0;
  unsigned pointer_size = 8;

  // The address of symbol `i`, which must be less than the names' count. `bytes_address` is where
  // the first of the bytes is; of account for kPlaceRelative only.
  [[nodiscard]] std::uint64_t at(Bytes bytes, std::size_t i, std::uint64_t base,
                                 std::uint64_t bytes_address) const;
};

// The table in front of the names (until 6.3) or behind the tokens' index (from 6.4 on), determined
// by what its numbers do: symbols are sorted by address, and the lowest is the base.
[[nodiscard]] std::optional<AddressTable> find_addresses(Bytes bytes, const NameTable& names,
                                                         const TokenTable& tokens,
                                                         unsigned pointer_size);

}  // namespace ringside::symbols::kallsyms
