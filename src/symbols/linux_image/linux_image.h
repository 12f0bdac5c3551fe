#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"
#include "kernel_image/boot_image.h"
#include "kernel_image/kernel_segment.h"
#include "symbols/linux_image/address_range.h"
#include "symbols/symbol_list.h"

namespace ringside::symbols {

// Contents of a Linux kernel, determined from its bytes without symbols, section headers or debug
// information. By its symbols in kallsyms where those are all (CONFIG_KALLSYMS_ALL), else by its
// looks. A view: the segments' bytes must outlive it.
struct LinuxImage {
  Arch arch = Arch::kUnknown;
  std::vector<kernel_image::KernelSegment> segments;  // by address
  SymbolList symbols;                                 // kallsyms
  AddressRange text;                                  // _stext to _etext
  std::optional<AddressRange> head_text;              // in front of _stext
  std::optional<AddressRange> init_text;              // unmapped after boot
  // Linux 6.4 and later; its place is a guess where kallsyms knows no data.
  std::optional<AddressRange> orc_header;
  std::optional<AddressRange> orc_ip;       // .orc_unwind_ip; x86_64
  std::optional<AddressRange> orc_entries;  // .orc_unwind
  std::optional<AddressRange> btf;
  std::optional<AddressRange> eh_frame;  // arm64 with shadow call stacks only
  std::optional<AddressRange> build_id;  // the GNU note, its head included
  std::optional<AddressRange> banner;    // linux_banner, its 0 included

  // Bytes of one segment; fewer or none where it has no bytes for all of the range.
  [[nodiscard]] Bytes bytes_of(AddressRange range) const;
  // "Linux version 6.1.0-…"; empty where it was not found.
  [[nodiscard]] std::string_view version() const;
};

// Reads segments that lie where the kernel is linked to, or where a running kernel has moved itself
// to: the addresses of all that is found are then those in memory. Each segment begins at a
// multiple of 256. kNotFound where there is no kallsyms, or it does not belong to these addresses.
[[nodiscard]] Result<LinuxImage> read_linux_image(
    Arch arch, std::vector<kernel_image::KernelSegment> segments);
// Reads an unpacked boot image, flat or ELF. A flat image's addresses are found, too.
[[nodiscard]] Result<LinuxImage> read_linux_image(const kernel_image::BootImage& image);
// Reads a vmlinux, stripped or not.
[[nodiscard]] Result<LinuxImage> read_linux_image(const elf::ElfFile& file);
// The same by a list of symbols, named `list_name` in errors, instead of kallsyms: at the addresses
// that the file is linked to, or, of a flat image, wherever the list has _text, its first byte.
[[nodiscard]] Result<LinuxImage> read_linux_image(const elf::ElfFile& file, SymbolList list,
                                                  const std::string& list_name);
[[nodiscard]] Result<LinuxImage> read_linux_image(const kernel_image::BootImage& image,
                                                  SymbolList list, const std::string& list_name);
// The same image by that list.
[[nodiscard]] Result<LinuxImage> with_symbols(const LinuxImage& image, SymbolList list,
                                              const std::string& list_name);

// An ELF file with the image's segments, its text parted from the rest, sections for all that was
// found, and .symtab with kallsyms, where each function reaches to the next symbol; with a symbol
// linux_banner in any case. readelf, gdb and ElfFile read it. As large as the image.
[[nodiscard]] std::vector<std::byte> make_elf(const LinuxImage& image);

}  // namespace ringside::symbols
