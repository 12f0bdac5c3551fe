#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "symbols/linux_image/address_range.h"

namespace ringside::symbols {

// Offsets from the start of the bytes.
struct OrcPlaces {
  std::size_t ip_begin = 0;       // .orc_unwind_ip, 4 bytes a row
  std::size_t entries_begin = 0;  // .orc_unwind, 6 bytes a row, where the rows end
  std::size_t end = 0;
};

// x86_64's ORC tables in the bytes of a kernel that has no symbols for them (no
// CONFIG_KALLSYMS_ALL), by their looks: the longest list of 32-bit distances to rising addresses in
// `code`, with as many entries behind it whose registers exist (include/asm-generic/vmlinux.lds.h,
// ORC_UNWIND_TABLE; sorted when the kernel is built since Linux 5.6). `address` is where the first
// of the bytes is, a multiple of 4.
[[nodiscard]] std::optional<OrcPlaces> find_orc(Bytes bytes, ImageAddr address, AddressRange code);

}  // namespace ringside::symbols
