#include "guestos/linux/modules/module_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "base/little_endian.h"
#include "elf/elf_writer.h"

namespace ringside::guestos {
namespace {

// KSYM_NAME_LEN is 128, 512 since 6.1.
constexpr std::uint64_t kMaxName = 512;
constexpr std::uint64_t kMaxStrings = 4 << 20;

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
    const auto raw = load<Sym>(table);
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

struct Orc {
  GuestVirt at;  // of `ip`
  std::vector<std::byte> ip;
  std::vector<std::byte> entries;
};

// Each row is the distance from itself to code, and they are in the code's order. Some are of code
// that ran once and is gone (.init.text).
bool leads_to_code(const Orc& orc, const ModuleShape& module) {
  std::uint64_t before = 0;
  std::size_t inside = 0;
  for (std::size_t i = 0; i + 4 <= orc.ip.size(); i += 4) {
    const auto distance = load<std::int32_t>(orc.ip, i);
    const std::uint64_t to = orc.at.value + i + static_cast<std::uint64_t>(std::int64_t{distance});
    if (to < before) return false;
    before = to;
    inside += to - module.text.value <= module.text_size;
  }
  return inside >= orc.ip.size() / 4 / 2;
}

Result<std::optional<Orc>> read_orc(const ModuleShape& module, VirtualMemory& memory) {
  for (const ModuleShape::Orc& maybe : module.maybe_orc) {
    Orc orc{maybe.ip, {}, {}};
    RINGSIDE_ASSIGN(orc.ip, memory.read_bytes(maybe.ip, 4 * maybe.count));
    if (orc.ip.size() < 4 * maybe.count || !leads_to_code(orc, module)) continue;
    RINGSIDE_ASSIGN(orc.entries, memory.read_bytes(maybe.entries, 6 * maybe.count));
    if (orc.entries.size() == 6 * maybe.count) return orc;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<elf::Image>> read_module_image(const ModuleShape& module, Arch arch,
                                                    bool orc_header, VirtualMemory& memory) {
  const bool is_64 = arch::roles_of(arch).pointer_size == 8;
  RINGSIDE_ASSIGN(const auto code, memory.read_bytes(module.text, module.text_size));
  if (code.size() < module.text_size) return std::nullopt;
  const std::size_t entry_size = is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  RINGSIDE_ASSIGN(const auto table,
                  memory.read_bytes(module.symbols, module.symbol_count * entry_size));
  const auto symbols = is_64 ? parse<Elf64_Sym>(table) : parse<Elf32_Sym>(table);
  RINGSIDE_ASSIGN(const auto strings,
                  memory.read_bytes(module.strings, strings_size(module, symbols)));

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
  std::optional<Orc> orc;
  if (arch == Arch::kX86_64) {
    RINGSIDE_ASSIGN(orc, read_orc(module, memory));
  }
  if (orc) {
    writer.add_section(".orc_unwind_ip", SHT_PROGBITS, SHF_ALLOC, {orc->at.value}, orc->ip);
    writer.add_section(".orc_unwind", SHT_PROGBITS, SHF_ALLOC, {}, orc->entries);
    // It marks the format, and is not read.
    if (orc_header)
      writer.add_section(".orc_header", SHT_PROGBITS, SHF_ALLOC, {}, Bytes(orc->ip).first(4));
  }
  RINGSIDE_ASSIGN(auto file, elf::ElfFile::from_bytes(writer.write(), module.name));
  return elf::Image{.name = module.name, .file = std::move(file), .from_guest = true};
}

}  // namespace ringside::guestos
