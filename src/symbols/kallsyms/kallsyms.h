#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "base/result.h"
#include "elf/elf_file.h"
#include "symbols/kallsyms/address_table.h"
#include "symbols/symbol_list.h"

// The symbols that a Linux kernel carries for its own oopses and /proc/kallsyms: packed tables that
// scripts/kallsyms.c writes and kernel/kallsyms.c reads. Nothing points at them in an image without
// symbols, so they are found by their looks. Known: all layouts from 4.0 to 7.0, little endian.
namespace ringside::symbols::kallsyms {

struct Tables {
  TokenTable tokens;
  NameTable names;
  AddressTable addresses;
};

// The tables in the bytes of a kernel: a flat image, a segment or section, or guest memory that
// holds its read-only data. The first byte's address must be a multiple of 256; `pointer_size` is 4
// or 8. Errors say which table was not found. Debian's kernels: 10 to 40 ms, most of it to pass
// over code.
[[nodiscard]] Result<Tables> find_tables(Bytes bytes, unsigned pointer_size);

// All symbols, by address. `bytes_address` is where the first of the bytes is; `base` replaces
// kallsyms_relative_base where an image's relocations have yet to write it (it is 0): a flat image
// begins there.
[[nodiscard]] Result<SymbolList> decode(Bytes bytes, const Tables& tables,
                                        std::uint64_t bytes_address, std::uint64_t base);

// Both for a vmlinux, stripped or not; addresses are as linked.
[[nodiscard]] Result<SymbolList> symbols_of(const elf::ElfFile& file);

// Where a flat image is linked to.
struct LinkAddress {
  std::uint64_t image = 0;          // its first byte, "_text" or "_start"
  std::uint64_t relative_base = 0;  // what decode() wants as `base`: its first symbol
};

// The link address of an arm64 or riscv64 Image. Where the image has 0 for kallsyms_relative_base,
// a relative relocation writes the value there; without one the answer is nothing.
// `text_offset` is the image's (kernel_image/boot_image.h). A kernel is linked that far from a
// boundary of 2 MiB (arm64), or to such a boundary.
[[nodiscard]] std::optional<LinkAddress> link_address(Bytes image, const Tables& tables,
                                                      std::uint64_t text_offset);

}  // namespace ringside::symbols::kallsyms
