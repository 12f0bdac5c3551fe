#include "elf/elf_writer.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "arch/arch_info.h"

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

std::uint16_t ElfWriter::add_section(std::string name, std::uint32_t type, std::uint64_t flags,
                                     ImageAddr address, Bytes bytes) {
  sections_.push_back({std::move(name), type, flags, address.value, bytes});
  return static_cast<std::uint16_t>(sections_.size());
}

std::uint16_t ElfWriter::map_section(std::string name, std::uint32_t type, std::uint64_t flags,
                                     ImageAddr address, std::uint64_t size) {
  sections_.push_back({std::move(name), type, flags, address.value, {}, size});
  return static_cast<std::uint16_t>(sections_.size());
}

// The file while it is written: headers, segments, sections, section headers.
template <class Traits>
class ElfWriter::File {
 public:
  explicit File(const ElfWriter& from) : from_(from), sections_(from.sections_) {
    make_symbols();
    for (const Section& section : sections_) name_offsets_.push_back(names_.add(section.name));
    name_offsets_.push_back(names_.add(".shstrtab"));
    sections_.push_back({".shstrtab", SHT_STRTAB, 0, 0, names_.bytes()});
  }

  std::vector<std::byte> write() {
    std::size_t size = 4096 + sections_.size() * (sizeof(Shdr) + 8);
    for (const ElfWriter::Segment& segment : from_.segments_)
      size += sizeof(Phdr) + segment.bytes.size();
    for (const Section& section : sections_) size += section.bytes.size();
    out_.reserve(size);
    out_.resize(sizeof(Ehdr) + from_.segments_.size() * sizeof(Phdr));
    write_segments();
    write_sections();
    write_header();
    return std::move(out_);
  }

 private:
  using Ehdr = typename Traits::Ehdr;
  using Phdr = typename Traits::Phdr;
  using Shdr = typename Traits::Shdr;
  using Sym = typename Traits::Sym;
  using Word = typename Traits::Word;

  // The null symbol, then local ones before others, as the gABI wants.
  void make_symbols() {
    std::vector<Symbol> symbols = from_.symbols_;
    const auto first_global = std::stable_partition(
        symbols.begin(), symbols.end(),
        [](const Symbol& symbol) { return ELF64_ST_BIND(symbol.info) == STB_LOCAL; });
    table_.reserve((symbols.size() + 1) * sizeof(Sym));
    append(table_, Sym{});
    for (const Symbol& symbol : symbols) {
      Sym entry{};
      entry.st_name = symbol_names_.add(symbol.name);
      entry.st_value = static_cast<Word>(symbol.address.value);
      entry.st_size = static_cast<Word>(symbol.size);
      entry.st_info = symbol.info;
      entry.st_shndx = symbol.section;
      append(table_, entry);
    }
    const auto strings_index = static_cast<std::uint32_t>(sections_.size() + 2);
    const auto local_count = static_cast<std::uint32_t>(first_global - symbols.begin() + 1);
    sections_.push_back(
        {".symtab", SHT_SYMTAB, 0, 0, table_, 0, strings_index, local_count, sizeof(Sym)});
    sections_.push_back({".strtab", SHT_STRTAB, 0, 0, symbol_names_.bytes()});
  }

  void write_segments() {
    for (std::size_t i = 0; i < from_.segments_.size(); ++i) {
      const ElfWriter::Segment& segment = from_.segments_[i];
      Phdr entry{};
      entry.p_type = PT_LOAD;
      entry.p_offset = static_cast<Word>(segment.bytes.empty() ? 0 : out_.size());
      entry.p_vaddr = static_cast<Word>(segment.address.value);
      entry.p_paddr = entry.p_vaddr;
      entry.p_filesz = static_cast<Word>(segment.bytes.size());
      entry.p_memsz = static_cast<Word>(segment.memory_size);
      entry.p_flags = segment.flags;
      entry.p_align = 1;
      segment_offsets_.push_back(out_.size());
      std::memcpy(out_.data() + sizeof(Ehdr) + i * sizeof(Phdr), &entry, sizeof entry);
      append(out_, segment.bytes);
    }
  }

  // Where in the file the bytes of a mapped section are.
  [[nodiscard]] std::optional<std::uint64_t> mapped_offset(const Section& section) const {
    for (std::size_t i = 0; i < from_.segments_.size(); ++i) {
      const ElfWriter::Segment& segment = from_.segments_[i];
      const std::uint64_t offset = section.address - segment.address.value;
      if (offset <= segment.bytes.size() && section.mapped_size <= segment.bytes.size() - offset)
        return segment_offsets_[i] + offset;
    }
    return std::nullopt;
  }

  void write_sections() {
    std::vector<std::byte> headers;
    append(headers, Shdr{});
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Section& section = sections_[i];
      const auto mapped = section.mapped_size == 0 ? std::nullopt : mapped_offset(section);
      if (section.mapped_size == 0) out_.resize((out_.size() + 7) & ~std::size_t{7});
      Shdr entry{};
      entry.sh_name = name_offsets_[i];
      entry.sh_type = section.mapped_size != 0 && !mapped ? SHT_NOBITS : section.type;
      entry.sh_flags = static_cast<Word>(section.flags);
      entry.sh_addr = static_cast<Word>(section.address);
      entry.sh_offset = static_cast<Word>(mapped.value_or(out_.size()));
      entry.sh_size =
          static_cast<Word>(section.mapped_size != 0 ? section.mapped_size : section.bytes.size());
      entry.sh_link = section.link;
      entry.sh_info = section.info;
      entry.sh_addralign = 1;
      entry.sh_entsize = static_cast<Word>(section.entry_size);
      append(headers, entry);
      append(out_, section.bytes);
    }
    section_headers_at_ = out_.size();
    append(out_, Bytes(headers));
  }

  void write_header() {
    Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = Traits::kClass;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = from_.type_;
    header.e_machine = arch::info_of(from_.arch_).elf_machine;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof(header);
    header.e_shoff = static_cast<Word>(section_headers_at_);
    header.e_ehsize = sizeof(header);
    header.e_phentsize = sizeof(Phdr);
    header.e_phnum = static_cast<std::uint16_t>(from_.segments_.size());
    header.e_shentsize = sizeof(Shdr);
    header.e_shnum = static_cast<std::uint16_t>(sections_.size() + 1);
    header.e_shstrndx = static_cast<std::uint16_t>(sections_.size());
    std::memcpy(out_.data(), &header, sizeof header);
  }

  const ElfWriter& from_;
  std::vector<Section> sections_;
  Strings symbol_names_;
  std::vector<std::byte> table_;  // .symtab
  Strings names_;
  std::vector<std::uint32_t> name_offsets_;
  std::vector<std::uint64_t> segment_offsets_;
  std::size_t section_headers_at_ = 0;
  std::vector<std::byte> out_;
};

std::vector<std::byte> ElfWriter::write() const {
  return is_64_ ? File<Elf64>(*this).write() : File<Elf32>(*this).write();
}

}  // namespace ringside::elf
