#include <elf.h>

#include <algorithm>
#include <cctype>

#include "arch/arch_info.h"
#include "elf/elf_writer.h"
#include "symbols/linux_image/linux_image.h"

namespace ringside::symbols {
namespace {

using kernel_image::KernelSegment;

constexpr const char* kBanner = "linux_banner";

struct Part {
  const char* name = nullptr;
  std::uint32_t type = SHT_PROGBITS;
  std::uint64_t flags = SHF_ALLOC;
  AddressRange range;
  std::uint16_t number = 0;  // of the section
};

// The parts that were found, by address and without overlaps.
std::vector<Part> parts_of(const LinuxImage& image) {
  constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
  std::vector<Part> found;
  const auto add = [&](const char* name, std::uint32_t type, std::uint64_t flags,
                       const std::optional<AddressRange>& range) {
    if (range && range->end > range->begin) found.push_back({name, type, flags, *range});
  };
  add(".head.text", SHT_PROGBITS, kCode, image.head_text);
  add(".text", SHT_PROGBITS, kCode, image.text);
  add(".init.text", SHT_PROGBITS, kCode, image.init_text);
  add(".notes", SHT_NOTE, SHF_ALLOC, image.build_id);
  add(".BTF", SHT_PROGBITS, SHF_ALLOC, image.btf);
  add(".eh_frame", SHT_PROGBITS, SHF_ALLOC, image.eh_frame);
  add(".orc_header", SHT_PROGBITS, SHF_ALLOC, image.orc_header);
  add(".orc_unwind_ip", SHT_PROGBITS, SHF_ALLOC, image.orc_ip);
  add(".orc_unwind", SHT_PROGBITS, SHF_ALLOC, image.orc_entries);
  std::stable_sort(found.begin(), found.end(),
                   [](const Part& a, const Part& b) { return a.range.begin < b.range.begin; });
  std::vector<Part> parts;
  for (const Part& part : found)
    if (parts.empty() || part.range.begin >= parts.back().range.end) parts.push_back(part);
  return parts;
}

class Writer {
 public:
  explicit Writer(const LinuxImage& image)
      : image_(image),
        out_(image.arch, arch::info_of(image.arch).is_64_bit(), ET_EXEC),
        found_(parts_of(image)) {}

  std::vector<std::byte> write() {
    ImageAddr covered;
    for (const KernelSegment& segment : image_.segments) {
      // Segments that overlap belong to no kernel; the first has its way.
      if (segment.address < covered || segment.memory_size == 0) continue;
      const ImageAddr end = segment.address + segment.memory_size;
      if (end < segment.address) continue;
      covered = end;
      add_segments(segment, end);
      add_sections(segment, end);
    }
    add_symbols();
    return out_.write();
  }

 private:
  // One for each stretch of code, and one for what is between two.
  void add_segments(const KernelSegment& segment, ImageAddr end) {
    ImageAddr at = segment.address;
    const auto add_up_to = [&](ImageAddr to, bool code) {
      if (to <= at) return;
      const std::uint64_t offset = at - segment.address;
      const Bytes bytes = offset < segment.bytes.size() ? segment.bytes.subspan(offset) : Bytes();
      out_.add_segment(at, to - at, code, !code,
                       bytes.first(std::min<std::uint64_t>(bytes.size(), to - at)));
      at = to;
    };
    for (const Part& part : found_) {
      if ((part.flags & SHF_EXECINSTR) == 0 || part.range.begin < at || part.range.begin >= end)
        continue;
      add_up_to(part.range.begin, false);
      add_up_to(std::min(part.range.end, end), true);
    }
    add_up_to(end, false);
  }

  // Those that were found, and .data or .bss for the rest.
  void add_sections(const KernelSegment& segment, ImageAddr end) {
    const ImageAddr file_end =
        segment.address + std::min<std::uint64_t>(segment.bytes.size(), segment.memory_size);
    ImageAddr at = segment.address;
    const auto fill_up_to = [&](ImageAddr to) {
      constexpr std::uint64_t kData = SHF_ALLOC | SHF_WRITE;
      const ImageAddr data_end = std::min(to, file_end);
      if (at < data_end) add_section({".data", SHT_PROGBITS, kData, {at, data_end}});
      at = std::max(at, data_end);
      if (at < to) add_section({".bss", SHT_NOBITS, kData, {at, to}});
      at = std::max(at, to);
    };
    for (const Part& part : found_) {
      if (part.range.begin < at || part.range.end > end) continue;
      fill_up_to(part.range.begin);
      add_section(part);
      at = part.range.end;
    }
    fill_up_to(end);
  }

  void add_section(Part part) {
    part.number =
        out_.map_section(part.name, part.type, part.flags, part.range.begin, part.range.size());
    sections_.push_back(part);
  }

  [[nodiscard]] const Part* section_at(ImageAddr address) const {
    const auto after =
        std::upper_bound(sections_.begin(), sections_.end(), address,
                         [](ImageAddr at, const Part& part) { return at < part.range.begin; });
    if (after == sections_.begin() || !(after - 1)->range.contains(address)) return nullptr;
    return &*(after - 1);
  }

  [[nodiscard]] elf::ElfWriter::Symbol symbol_of(const ListedSymbol& listed, ImageAddr next,
                                                 bool names_border) const {
    elf::ElfWriter::Symbol symbol{.name = listed.name, .address = listed.address};
    const Part* section = std::tolower(listed.type) == 'a' ? nullptr : section_at(listed.address);
    std::uint8_t type = STT_NOTYPE;
    if (section != nullptr) {
      symbol.section = section->number;
      const bool code = (section->flags & SHF_EXECINSTR) != 0;
      if (!names_border) {
        type = !code ? STT_OBJECT : listed.is_text() ? STT_FUNC : STT_NOTYPE;
        symbol.size = std::min(next, section->range.end) - listed.address;
      }
    }
    const char letter = static_cast<char>(std::tolower(listed.type));
    const std::uint8_t binding = letter == 'w' || letter == 'v' ? STB_WEAK
                                 : letter == listed.type        ? STB_LOCAL
                                                                : STB_GLOBAL;
    symbol.info = static_cast<std::uint8_t>(ELF64_ST_INFO(binding, type));
    return symbol;
  }

  void add_symbols() {
    std::vector<ListedSymbol> all = image_.symbols.symbols;
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.address < b.address; });
    std::vector<elf::ElfWriter::Symbol> symbols;
    symbols.reserve(all.size() + 1);
    bool has_banner = false;
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i;
      while (end < all.size() && all[end].address == all[i].address) ++end;
      const ImageAddr next = end < all.size() ? all[end].address : ImageAddr{~std::uint64_t{0}};
      // A linker script's border gives way to the function that begins there.
      const bool only_borders =
          std::all_of(all.begin() + static_cast<std::ptrdiff_t>(i),
                      all.begin() + static_cast<std::ptrdiff_t>(end),
                      [](const auto& s) { return is_section_border(s.name); });
      for (; i < end; ++i) {
        has_banner = has_banner || all[i].name == kBanner;
        symbols.push_back(symbol_of(all[i], next, !only_borders && is_section_border(all[i].name)));
      }
    }
    if (!has_banner && image_.banner)
      symbols.push_back(
          symbol_of({image_.banner->begin, 'D', kBanner, {}}, image_.banner->end, false));
    out_.set_symbols(std::move(symbols));
  }

  const LinuxImage& image_;
  elf::ElfWriter out_;
  std::vector<Part> found_;
  std::vector<Part> sections_;  // by address
};

}  // namespace

std::vector<std::byte> make_elf(const LinuxImage& image) { return Writer(image).write(); }

}  // namespace ringside::symbols
