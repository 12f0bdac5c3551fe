#include <elf.h>

#include <algorithm>
#include <cstring>

#include "elf/elf_file.h"
#include "elf/go_functions.h"
#include "elf/read_later.h"

// Symbol tables, read straight from the mapped file: a kernel has 150,000 symbols, and libelf's
// call for each would be half of the time.

namespace ringside::elf {
namespace {

struct RawSymbol {
  std::uint32_t name = 0;
  std::uint8_t info = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

template <class Sym>
RawSymbol raw_symbol(const std::byte* at) {
  Sym symbol;
  std::memcpy(&symbol, at, sizeof symbol);
  return {symbol.st_name, symbol.st_info, symbol.st_shndx, symbol.st_value, symbol.st_size};
}

SymbolBinding binding_of(std::uint8_t info) {
  switch (ELF64_ST_BIND(info)) {
    case STB_LOCAL:
      return SymbolBinding::kLocal;
    case STB_WEAK:
      return SymbolBinding::kWeak;
    default:
      return SymbolBinding::kGlobal;
  }
}

// Labels that assemblers and linkers leave behind and that name nothing.
bool is_mapping_label(std::string_view name) {
  return name.empty() || name.starts_with('$') || name.starts_with(".L");
}

// The dynamic symbols of such a program, if it has any, are few.
void add_go_functions(const ElfFile& file, std::vector<FunctionSymbol>& functions) {
  for (const char* name : {".gopclntab", ".data.rel.ro.gopclntab"}) {
    const auto table = file.section(name);
    const auto text = file.section(".text");
    if (!table || !text) continue;
    for (const FunctionSymbol& function : go_functions(table->bytes, text->address))
      if (file.is_code(function.address)) functions.push_back(function);
  }
}

}  // namespace

const ElfFile::SectionHeader* ElfFile::symbol_table() const {
  const SectionHeader* dynamic = nullptr;
  for (const SectionHeader& section : sections_) {
    if (section.type == SHT_SYMTAB) return &section;
    if (section.type == SHT_DYNSYM && dynamic == nullptr) dynamic = &section;
  }
  return dynamic;
}

template <class Visit>
void ElfFile::for_each_symbol(Visit visit) const {
  const SectionHeader* table = symbol_table();
  if (table == nullptr || table->link >= sections_.size()) return;
  const Bytes symbols = contents_of(*table);
  const Bytes strings = contents_of(sections_[table->link]);
  const std::size_t entry = is_64_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  for (std::size_t at = 0; symbols.size() - at >= entry; at += entry) {
    const RawSymbol symbol = is_64_ ? raw_symbol<Elf64_Sym>(symbols.data() + at)
                                    : raw_symbol<Elf32_Sym>(symbols.data() + at);
    if (symbol.name >= strings.size()) continue;
    const char* name = reinterpret_cast<const char*>(strings.data()) + symbol.name;
    if (!visit(symbol, std::string_view(name, strnlen(name, strings.size() - symbol.name)))) return;
  }
}

const std::vector<FunctionSymbol>& ElfFile::symbols() const {
  std::vector<FunctionSymbol>& functions = read_later_->symbols;
  std::vector<ImageAddr>& data = read_later_->data_in_code;
  std::call_once(read_later_->symbols_once, [&] {
    const auto in_code = [this](const RawSymbol& symbol) {
      if (symbol.section < sections_.size() && symbol.section != SHN_UNDEF) {
        // A linker script's label at the end of its section is outside of it.
        const SectionHeader& section = sections_[symbol.section];
        return (section.flags & SHF_EXECINSTR) != 0 &&
               (type_ == ET_REL || symbol.value - section.address < section.size);
      }
      return symbol.section != SHN_UNDEF && is_code({symbol.value});
    };
    for_each_symbol([&](const RawSymbol& symbol, std::string_view name) {
      const unsigned type = ELF64_ST_TYPE(symbol.info);
      const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
      if (type == STT_OBJECT && in_code(symbol)) data.push_back({symbol.value});
      if ((function || type == STT_NOTYPE) && !is_mapping_label(name) && in_code(symbol))
        functions.push_back({{symbol.value}, symbol.size, name, binding_of(symbol.info), function});
      return true;
    });
    const SectionHeader* const table = symbol_table();
    if (table == nullptr || table->type != SHT_SYMTAB) add_go_functions(*this, functions);
    std::sort(functions.begin(), functions.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    std::sort(data.begin(), data.end());
  });
  return functions;
}

ImageAddr ElfFile::end_of_code(ImageAddr address) const {
  (void)symbols();
  std::uint64_t end = address.value;
  for (const Segment& segment : segments_)
    if (segment.executable && segment.contains(address))
      end = segment.address.value + segment.memory_size;
  bool in_section = false;
  bool has_sections = false;
  for (const SectionHeader& section : sections_) {
    const bool is_code = (section.flags & SHF_EXECINSTR) != 0 && (section.flags & SHF_ALLOC) != 0;
    has_sections |= is_code;
    if (!is_code || address.value - section.address >= section.size) continue;
    in_section = true;
    end = std::min(end, section.address + section.size);
  }
  if (has_sections && !in_section) return address;
  const std::vector<ImageAddr>& data = read_later_->data_in_code;
  const auto next = std::upper_bound(data.begin(), data.end(), address);
  return next == data.end() ? ImageAddr{end} : std::min(ImageAddr{end}, *next);
}

std::vector<TableSymbol> ElfFile::all_symbols() const {
  std::vector<TableSymbol> all;
  for_each_symbol([&](const RawSymbol& symbol, std::string_view name) {
    all.push_back({{symbol.value}, symbol.size, name});
    return true;
  });
  return all;
}

std::optional<DataSymbol> ElfFile::symbol_named(std::string_view name) const {
  std::optional<DataSymbol> found;
  for_each_symbol([&](const RawSymbol& symbol, std::string_view candidate) {
    if (symbol.section == SHN_UNDEF || candidate != name) return true;
    found = DataSymbol{{symbol.value}, symbol.size};
    return false;
  });
  return found;
}

}  // namespace ringside::elf
