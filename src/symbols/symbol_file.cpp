#include "symbols/symbol_file.h"

#include <elf.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "arch/arch_info.h"
#include "elf/elf_writer.h"

namespace ringside::symbols {
namespace {

constexpr int kLevel = 3;

std::uint8_t info_of(const elf::FunctionSymbol& symbol) {
  const unsigned binding = symbol.binding == elf::SymbolBinding::kLocal  ? STB_LOCAL
                           : symbol.binding == elf::SymbolBinding::kWeak ? STB_WEAK
                                                                         : STB_GLOBAL;
  return static_cast<std::uint8_t>(
      ELF64_ST_INFO(binding, symbol.is_function ? STT_FUNC : STT_NOTYPE));
}

// An ELF note: three words, the owner, the description (gABI, "Note Section").
std::vector<std::byte> build_id_note(Bytes build_id) {
  const std::uint32_t head[] = {4, static_cast<std::uint32_t>(build_id.size()), NT_GNU_BUILD_ID};
  std::vector<std::byte> note(sizeof head + 4);
  std::memcpy(note.data(), head, sizeof head);
  std::memcpy(note.data() + sizeof head, ELF_NOTE_GNU, 4);
  note.insert(note.end(), build_id.begin(), build_id.end());
  note.resize((note.size() + 3) / 4 * 4);
  return note;
}

// With the segments that the writer has.
std::vector<std::byte> write(elf::ElfWriter& writer, Bytes build_id,
                             std::vector<elf::ElfWriter::Symbol> symbols) {
  const std::vector<std::byte> note = build_id_note(build_id);
  if (!build_id.empty()) writer.add_section(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, {}, note);
  writer.set_symbols(std::move(symbols));
  return writer.write();
}

std::vector<elf::ElfWriter::Symbol> symbols_of(std::span<const PackedFunction> functions) {
  std::vector<elf::ElfWriter::Symbol> symbols;
  for (const PackedFunction& function : functions)
    symbols.push_back({.name = function.name,
                       .address = function.address,
                       .size = function.size,
                       .info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC)});
  return symbols;
}

std::vector<std::byte> pack(const elf::ElfFile& file, std::vector<elf::ElfWriter::Symbol> symbols) {
  elf::ElfWriter writer(file.arch(), file.is_64(), file.type());
  for (const elf::Segment& segment : file.segments())
    writer.add_segment(segment.address, segment.memory_size, segment.executable, segment.writable,
                       {});
  const std::vector<std::byte> whole = write(writer, file.build_id(), std::move(symbols));
  std::vector<std::byte> packed(ZSTD_compressBound(whole.size()));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), whole.data(), whole.size(), kLevel);
  packed.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return packed;
}

}  // namespace

std::vector<std::byte> pack_symbols(const elf::ElfFile& file) {
  std::vector<elf::ElfWriter::Symbol> symbols;
  for (const elf::FunctionSymbol& symbol : file.symbols())
    symbols.push_back({.name = symbol.name,
                       .address = symbol.address,
                       .size = symbol.size,
                       .info = info_of(symbol)});
  return pack(file, std::move(symbols));
}

std::vector<std::byte> pack_functions(const elf::ElfFile& file,
                                      std::span<const PackedFunction> functions) {
  return pack(file, symbols_of(functions));
}

std::vector<std::byte> make_symbol_file(Arch arch, Bytes build_id,
                                        std::span<const PackedFunction> functions) {
  elf::ElfWriter writer(arch, arch::info_of(arch).is_64_bit(), ET_EXEC);
  ImageAddr low{~std::uint64_t{0}};
  ImageAddr high;
  for (const PackedFunction& function : functions) {
    const ImageAddr end = function.address + function.size;
    if (end < function.address) continue;  // a damaged one
    low = std::min(low, function.address);
    high = std::max(high, end);
  }
  if (low < high) writer.add_segment(low, high - low, true, false, {});
  return write(writer, build_id, symbols_of(functions));
}

}  // namespace ringside::symbols
