#include "exporters/perf/perf_symbol_files.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>

#include "arch/arch_info.h"
#include "base/text.h"
#include "elf/elf_writer.h"

namespace ringside::exporters::perf {
namespace {

// Reads "_text" of a kernel to see how far it is from where it was recorded.
constexpr std::string_view kKernelStart = "_text";

// Sections and segments as perf needs them: symbols are of the section ".text", which begins where
// the image is mapped, and an address minus the segment's is an offset in the file.
std::vector<std::byte> elf_file(const PerfImages& images, const PerfImage& image, Arch arch) {
  // Addresses of the places of names have 64 bits, even for a guest with 32.
  elf::ElfWriter writer(arch::info_of(arch).is_64_bit() ? arch : Arch::kX86_64, true, ET_DYN);
  const ImageAddr start{image.start - image.bias};
  const ImageAddr file_start{image.is_kernel ? start.value : image.file_start - image.bias};
  writer.add_segment(file_start, image.end - image.bias - file_start.value, true, false, {});
  const std::uint16_t text = writer.map_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
                                                start, image.end - image.start);
  std::vector<std::byte> note(12 + 4);
  const std::uint32_t head[] = {4, static_cast<std::uint32_t>(image.build_id.size()),
                                NT_GNU_BUILD_ID};
  std::copy_n(reinterpret_cast<const std::byte*>(head), sizeof head, note.begin());
  std::copy_n(reinterpret_cast<const std::byte*>(ELF_NOTE_GNU), 4, note.begin() + sizeof head);
  note.insert(note.end(), image.build_id.begin(), image.build_id.end());
  note.resize((note.size() + 3) / 4 * 4);
  writer.add_section(".note.gnu.build-id", SHT_NOTE, 0, {}, note);
  std::vector<elf::ElfWriter::Symbol> symbols;
  if (image.is_kernel)
    symbols.push_back({kKernelStart, start, 0, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), text});
  for (const FrameSymbol& symbol : image.symbols)
    symbols.push_back({images.name(symbol),
                       {symbol.start - image.bias},
                       symbol.end - symbol.start,
                       ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                       text});
  writer.set_symbols(std::move(symbols));
  return writer.write();
}

// For hotspot, which reads a name up to the first space, and gives all frames at the first bytes of
// their functions the name of one of them: a name with such a frame begins a byte earlier.
// Addresses behind a function are not its own.
void append_kallsyms(const PerfImages& images, const PerfImage& image, std::string& out) {
  for (std::size_t i = 0; i < image.symbols.size(); ++i) {
    const FrameSymbol& symbol = image.symbols[i];
    std::string name(images.name(symbol));
    std::replace(name.begin(), name.end(), ' ', '_');
    const bool is_early = symbol.first_frame == symbol.start && symbol.start != 0 &&
                          (i == 0 || image.symbols[i - 1].last_frame < symbol.start - 1);
    fmt::format_to(std::back_inserter(out), "{:016x} t {}\n", symbol.start - (is_early ? 1 : 0),
                   name);
    const bool is_last = i + 1 == image.symbols.size();
    if (is_last || image.symbols[i + 1].start > symbol.end + 1)
      fmt::format_to(std::back_inserter(out), "{:016x} t [unknown]\n", symbol.end);
  }
}

}  // namespace

Result<void> write_symbol_files(const PerfImages& images, Arch arch, AtomicFolder& folder) {
  std::string kallsyms;
  for (const PerfImage& image : images.images()) {
    if (image.is_empty()) continue;
    const std::string id = hex_text(image.build_id);
    const std::string name = fmt::format(".build-id/{}/{}", id.substr(0, 2), id.substr(2));
    RINGSIDE_TRY(folder.write(name, elf_file(images, image, arch)));
    if (image.is_kernel)
      append_kallsyms(images, image, kallsyms);
    else
      RINGSIDE_TRY(folder.link(fmt::format("debug{}/{:0<40}", image.path, id), name));
  }
  return folder.write("kallsyms", as_bytes(kallsyms));
}

}  // namespace ringside::exporters::perf
