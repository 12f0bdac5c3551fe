#include "elf/elf_writer.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace ringside::elf {
namespace {

struct Elf32 {
  using Ehdr = Elf32_Ehdr;
  using Phdr = Elf32_Phdr;
  using Shdr = Elf32_Shdr;
  using Sym = Elf32_Sym;
  using Word = Elf32_Word;
  static constexpr unsigned char kClass = ELFCLASS32;
};
struct Elf64 {
  using Ehdr = Elf64_Ehdr;
  using Phdr = Elf64_Phdr;
  using Shdr = Elf64_Shdr;
  using Sym = Elf64_Sym;
  using Word = Elf64_Xword;
  static constexpr unsigned char kClass = ELFCLASS64;
};

std::uint16_t machine_of(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return EM_X86_64;
    case Arch::kI386:
      return EM_386;
    case Arch::kAArch64:
      return EM_AARCH64;
    case Arch::kRiscv64:
      return EM_RISCV;
    case Arch::kUnknown:
      break;
  }
  return EM_NONE;
}

template <class T>
void append(std::vector<std::byte>& out, const T& value) {
  const Bytes bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append(std::vector<std::byte>& out, Bytes bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// The strings of a string table; its first byte is 0.
class Strings {
 public:
  std::uint32_t add(std::string_view text) {
    if (text.empty()) return 0;
    const std::size_t at = text_.size();
    text_.append(text).push_back('\0');
    return static_cast<std::uint32_t>(at);
  }
  [[nodiscard]] Bytes bytes() const { return as_bytes(text_); }

 private:
  std::string text_ = std::string(1, '\0');
};

}  // namespace

void ElfWriter::add_segment(ImageAddr address, std::uint64_t memory_size, bool executable,
                            bool writable, Bytes bytes) {
  const std::uint32_t flags =
      PF_R | (executable ? std::uint32_t{PF_X} : 0) | (writable ? std::uint32_t{PF_W} : 0);
  segments_.push_back({address, memory_size, flags, bytes});
}

void ElfWriter::add_section(std::string name, std::uint32_t type, std::uint64_t flags,
                            ImageAddr address, Bytes bytes) {
  sections_.push_back({std::move(name), type, flags, address.value, bytes});
}

template <class Traits>
std::vector<std::byte> ElfWriter::write_as() const {
  using Word = typename Traits::Word;
  // Symbols: the null one, then local before others, as the gABI wants.
  std::vector<Symbol> symbols = symbols_;
  const auto first_global = std::stable_partition(
      symbols.begin(), symbols.end(),
      [](const Symbol& symbol) { return ELF64_ST_BIND(symbol.info) == STB_LOCAL; });
  Strings symbol_names;
  std::vector<std::byte> table;
  append(table, typename Traits::Sym{});
  for (const Symbol& symbol : symbols) {
    typename Traits::Sym entry{};
    entry.st_name = symbol_names.add(symbol.name);
    entry.st_value = static_cast<Word>(symbol.address.value);
    entry.st_size = static_cast<Word>(symbol.size);
    entry.st_info = symbol.info;
    entry.st_shndx = SHN_ABS;
    append(table, entry);
  }

  std::vector<Section> sections = sections_;
  const auto strings_index = static_cast<std::uint32_t>(sections.size() + 2);
  const auto local_count = static_cast<std::uint32_t>(first_global - symbols.begin() + 1);
  sections.push_back({".symtab", SHT_SYMTAB, 0, 0, table, strings_index, local_count,
                      sizeof(typename Traits::Sym)});
  sections.push_back({".strtab", SHT_STRTAB, 0, 0, symbol_names.bytes()});
  Strings section_names;
  std::vector<std::uint32_t> name_offsets;
  for (const Section& section : sections) name_offsets.push_back(section_names.add(section.name));
  name_offsets.push_back(section_names.add(".shstrtab"));
  sections.push_back({".shstrtab", SHT_STRTAB, 0, 0, section_names.bytes()});

  typename Traits::Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = Traits::kClass;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = type_;
  header.e_machine = machine_of(arch_);
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(typename Traits::Phdr);
  header.e_phnum = static_cast<std::uint16_t>(segments_.size());
  header.e_shentsize = sizeof(typename Traits::Shdr);
  header.e_shnum = static_cast<std::uint16_t>(sections.size() + 1);
  header.e_shstrndx = static_cast<std::uint16_t>(sections.size());

  std::uint64_t offset = sizeof(header) + segments_.size() * sizeof(typename Traits::Phdr);
  std::vector<std::byte> program_headers;
  std::vector<std::byte> contents;
  for (const Segment& segment : segments_) {
    typename Traits::Phdr entry{};
    entry.p_type = PT_LOAD;
    entry.p_offset = static_cast<Word>(offset + contents.size());
    entry.p_vaddr = static_cast<Word>(segment.address.value);
    entry.p_paddr = entry.p_vaddr;
    entry.p_filesz = static_cast<Word>(segment.bytes.size());
    entry.p_memsz = static_cast<Word>(segment.memory_size);
    entry.p_flags = segment.flags;
    entry.p_align = 1;
    append(program_headers, entry);
    append(contents, segment.bytes);
  }
  std::vector<std::byte> section_headers;
  append(section_headers, typename Traits::Shdr{});
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    contents.resize((contents.size() + 7) & ~std::size_t{7});
    typename Traits::Shdr entry{};
    entry.sh_name = name_offsets[i];
    entry.sh_type = section.type;
    entry.sh_flags = static_cast<Word>(section.flags);
    entry.sh_addr = static_cast<Word>(section.address);
    entry.sh_offset = static_cast<Word>(offset + contents.size());
    entry.sh_size = static_cast<Word>(section.bytes.size());
    entry.sh_link = section.link;
    entry.sh_info = section.info;
    entry.sh_addralign = 1;
    entry.sh_entsize = static_cast<Word>(section.entry_size);
    append(section_headers, entry);
    append(contents, section.bytes);
  }
  header.e_shoff = static_cast<Word>(offset + contents.size());
  std::vector<std::byte> file;
  append(file, header);
  append(file, Bytes(program_headers));
  append(file, Bytes(contents));
  append(file, Bytes(section_headers));
  return file;
}

std::vector<std::byte> ElfWriter::write() const {
  return is_64_ ? write_as<Elf64>() : write_as<Elf32>();
}

}  // namespace ringside::elf
