#pragma once

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_file.h"
#include "symbols/dwarf/dwarf_symbols.h"

// For fuzzers: turns bytes into ELF files whose sections of debug information are the bytes' while
// everything around them is sound, so that no luck is spent on ELF headers.
namespace ringside::symbols::dwarf::fuzzing {

// testdata/make_corpus.py has the same list.
inline constexpr std::array<std::string_view, 11> kSections = {
    ".debug_info",        ".debug_abbrev",  ".debug_str",     ".debug_line_str",
    ".debug_str_offsets", ".debug_addr",    ".debug_ranges",  ".debug_rnglists",
    ".debug_line",        ".debug_aranges", ".debug_cu_index"};

// One section: a byte, the sum of the section's number and 16 times that of its file, and the size
// as a little-endian number of 2 bytes, then its bytes.
struct Piece {
  std::size_t section = 0;
  std::size_t file = 0;
  Bytes bytes;
};

inline std::vector<Piece> split_pieces(Bytes input) {
  std::vector<Piece> pieces;
  while (input.size() >= 3) {
    const auto id = std::to_integer<std::size_t>(input[0]);
    const std::size_t wanted =
        std::to_integer<std::size_t>(input[1]) | std::to_integer<std::size_t>(input[2]) << 8;
    const std::size_t size = std::min(wanted, input.size() - 3);
    pieces.push_back({id % 16 % kSections.size(), id / 16 % 3, input.subspan(3, size)});
    input = input.subspan(3 + size);
  }
  return pieces;
}

// The ELF file of those pieces that have its number; `dwo` appends ".dwo" to the sections' names.
inline std::shared_ptr<const elf::ElfFile> make_file(const std::vector<Piece>& pieces,
                                                     std::size_t number, bool dwo) {
  std::vector<std::byte> out(sizeof(Elf64_Ehdr));
  const auto append = [&out](const void* data, std::size_t size) {
    const std::size_t at = out.size();
    out.resize(at + size);
    if (size != 0) std::memcpy(out.data() + at, data, size);
    return at;
  };
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  const auto add = [&](std::string_view name, std::uint32_t type, std::size_t at,
                       std::size_t size) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = type;
    header.sh_offset = at;
    header.sh_size = size;
    header.sh_addralign = 1;
    headers.push_back(header);
    names.append(name).append(1, '\0');
  };
  for (const Piece& piece : pieces) {
    if (piece.file != number) continue;
    std::string name(kSections[piece.section]);
    if (dwo && name != ".debug_cu_index") name += ".dwo";
    add(name, SHT_PROGBITS, append(piece.bytes.data(), piece.bytes.size()), piece.bytes.size());
  }
  constexpr std::string_view kNames = ".shstrtab";
  add(kNames, SHT_STRTAB, out.size(), names.size() + kNames.size() + 1);
  append(names.data(), names.size());
  Elf64_Ehdr file{};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_ident[EI_DATA] = ELFDATA2LSB;
  file.e_ident[EI_VERSION] = EV_CURRENT;
  file.e_type = ET_EXEC;
  file.e_machine = EM_X86_64;
  file.e_version = EV_CURRENT;
  file.e_ehsize = sizeof file;
  file.e_shentsize = sizeof(Elf64_Shdr);
  file.e_shnum = static_cast<Elf64_Half>(headers.size());
  file.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  out.resize((out.size() + 7) / 8 * 8);
  file.e_shoff = append(headers.data(), headers.size() * sizeof headers[0]);
  std::memcpy(out.data(), &file, sizeof file);
  auto result = elf::ElfFile::from_bytes(std::move(out), "fuzzed");
  return result ? *result : nullptr;
}

// File 1 is the .dwo file or the .dwp file, file 2 the alternate file.
class Files final : public SupplementaryFiles {
 public:
  explicit Files(const std::vector<Piece>& pieces) : pieces_(pieces) {}
  std::shared_ptr<const elf::ElfFile> alternate(const elf::ElfFile&) override {
    return make_file(pieces_, 2, false);
  }
  std::shared_ptr<const elf::ElfFile> package(const elf::ElfFile&) override {
    auto file = make_file(pieces_, 1, true);
    return file && file->section(".debug_cu_index") ? file : nullptr;
  }
  std::shared_ptr<const elf::ElfFile> split(const elf::ElfFile&, std::string_view,
                                            std::string_view) override {
    return make_file(pieces_, 1, true);
  }

 private:
  const std::vector<Piece>& pieces_;
};

}  // namespace ringside::symbols::dwarf::fuzzing
