#include "guestos/linux/module_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "elf/elf_writer.h"
#include "wire/registers.h"

namespace ringside::guestos {
namespace {

// KSYM_NAME_LEN is 128, 512 since 6.1.
constexpr std::uint64_t kMaxName = 512;
constexpr std::uint64_t kMaxStrings = 4 << 20;

// As many bytes as can be read from the start.
Result<std::vector<std::byte>> read_up_to(GuestVirt at, std::uint64_t size,
                                          const elf::GuestReader& read) {
  std::vector<std::byte> bytes(size);
  RINGSIDE_ASSIGN(const std::size_t count, read(at, bytes));
  bytes.resize(std::min<std::size_t>(count, size));
  return bytes;
}

struct Symbol {
  std::uint64_t name = 0;  // offset in the strings
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint8_t info = 0;
};

template <class Sym>
std::vector<Symbol> parse(Bytes table) {
  std::vector<Symbol> symbols;
  for (; table.size() >= sizeof(Sym); table = table.subspan(sizeof(Sym))) {
    Sym raw;
    std::memcpy(&raw, table.data(), sizeof raw);
    symbols.push_back({raw.st_name, raw.st_value, raw.st_size, raw.st_info});
  }
  return symbols;
}

// Kernels before 5.2 put the letter that nm prints in the place of st_info.
std::uint8_t info_of(const Symbol& symbol) {
  constexpr std::uint8_t kFunction = ELF32_ST_INFO(STB_LOCAL, STT_FUNC);
  if (symbol.info == 't') return kFunction;
  if (symbol.info == 'T') return ELF32_ST_INFO(STB_GLOBAL, STT_FUNC);
  return symbol.info;
}

std::uint64_t strings_size(const ModuleShape& module, const std::vector<Symbol>& symbols) {
  if (module.strings_size != 0) return module.strings_size;
  std::uint64_t last = 0;
  for (const Symbol& symbol : symbols) last = std::max(last, symbol.name);
  return std::min(last + kMaxName, kMaxStrings);
}

}  // namespace

Result<std::optional<elf::Image>> read_module_image(const ModuleShape& module, Arch arch,
                                                    const elf::GuestReader& read) {
  const bool is_64 = wire::roles_of(arch).pointer_size == 8;
  RINGSIDE_ASSIGN(const auto code, read_up_to(module.text, module.text_size, read));
  if (code.size() < module.text_size) return std::nullopt;
  const std::size_t entry_size = is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  RINGSIDE_ASSIGN(const auto table,
                  read_up_to(module.symbols, module.symbol_count * entry_size, read));
  const auto symbols = is_64 ? parse<Elf64_Sym>(table) : parse<Elf32_Sym>(table);
  RINGSIDE_ASSIGN(const auto strings,
                  read_up_to(module.strings, strings_size(module, symbols), read));

  elf::ElfWriter writer(arch, is_64, ET_EXEC);
  writer.add_segment({module.text.value}, module.text_size, true, false, code);
  std::vector<elf::ElfWriter::Symbol> functions;
  for (const Symbol& symbol : symbols) {
    const bool in_code = symbol.value - module.text.value < module.text_size;
    if (!in_code || symbol.name >= strings.size()) continue;
    const char* name = reinterpret_cast<const char*>(strings.data()) + symbol.name;
    const std::string_view text(name, strnlen(name, strings.size() - symbol.name));
    functions.push_back({text, {symbol.value}, symbol.size, info_of(symbol)});
  }
  writer.set_symbols(std::move(functions));
  RINGSIDE_ASSIGN(auto file, elf::ElfFile::from_bytes(writer.write(), module.name));
  return elf::Image{.name = module.name, .file = std::move(file), .from_guest = true};
}

}  // namespace ringside::guestos
