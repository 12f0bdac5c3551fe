#include "cases/minimize/minimize_image.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>

#include "arch/arch_info.h"
#include "base/little_endian.h"
#include "cases/minimize/minimize_cfi.h"
#include "cases/minimize/minimize_orc.h"
#include "elf/elf_writer.h"
#include "unwind/cfi/table.h"

namespace ringside::cases {
namespace {

using elf::FunctionSymbol;

constexpr std::uint64_t kMaxFunction = 64 << 10;   // bytes; of larger ones the start is kept
constexpr std::uint64_t kMaxEntryCode = 32 << 10;  // bytes

// Linux's entry code jumps between its parts (include/asm-generic/vmlinux.lds.h, ENTRY_TEXT), and
// x86's functions end in jumps to thunks (arch/x86/lib/retpoline.S).
constexpr std::string_view kEntryStart = "__entry_text_start";
constexpr std::string_view kEntryEnd = "__entry_text_end";
constexpr std::string_view kThunk = "__x86_";

std::string_view without_cold(std::string_view name) {
  const std::size_t at = name.find(".cold");
  return at == 0 ? name : name.substr(0, at);
}

class Ranges {
 public:
  explicit Ranges(const elf::ElfFile& file) : symbols_(file.symbols()) {}

  void add(ImageAddr at) {
    const auto after =
        std::upper_bound(symbols_.begin(), symbols_.end(), at,
                         [](ImageAddr a, const FunctionSymbol& s) { return a < s.address; });
    constexpr int kNested = 8;
    auto symbol = after;
    for (int i = 0; i < kNested && symbol != symbols_.begin(); ++i) {
      --symbol;
      const ImageAddr end = end_of(symbol);
      if (symbol->address <= at && at < end) keep(symbol);
    }
  }
  void add(CodeRange range) { ranges_.push_back(range); }
  // x86 assembly that has no call-frame information is followed over jumps, to the functions that
  // it jumps to.
  void add_jump_targets(const std::shared_ptr<const elf::ElfFile>& file) {
    if (!arch::info_of(file->arch()).is_x86) return;
    const arch::ArchInfo& platform = arch::info_of(file->arch());
    const unwind::cfi::Table cfi(file, platform);
    for (std::size_t i = 0, count = ranges_.size(); i < count; ++i) {
      const CodeRange range = ranges_[i];
      const Bytes bytes = file->bytes_at(range.start, range.end - range.start);
      if (cfi.find(range.start)) continue;
      for (std::size_t at = 0; at + 5 <= bytes.size(); ++at) {
        if (bytes[at] != std::byte{0xe9}) continue;  // jmp rel32
        const auto offset = load<std::int32_t>(bytes, at + 1);
        const ImageAddr target =
            range.start + at + 5 + static_cast<std::uint64_t>(std::int64_t{offset});
        if (starts_function(target)) add(target);
      }
    }
  }
  void add_thunks() {
    for (auto symbol = symbols_.begin(); symbol != symbols_.end(); ++symbol)
      if (symbol->name.starts_with(kThunk)) keep(symbol);
  }

  // The kept functions' other parts, then all ranges sorted and joined.
  [[nodiscard]] std::vector<CodeRange> finish() {
    for (auto symbol = symbols_.begin(); symbol != symbols_.end(); ++symbol)
      if (symbol->is_function && names_.contains(without_cold(symbol->name)))
        ranges_.push_back({symbol->address, end_of(symbol)});
    std::sort(ranges_.begin(), ranges_.end(),
              [](const CodeRange& a, const CodeRange& b) { return a.start < b.start; });
    std::vector<CodeRange> joined;
    for (const CodeRange& range : ranges_) {
      if (!joined.empty() && range.start <= joined.back().end)
        joined.back().end = std::max(joined.back().end, range.end);
      else
        joined.push_back(range);
    }
    return joined;
  }

 private:
  [[nodiscard]] bool starts_function(ImageAddr at) const {
    const auto found =
        std::lower_bound(symbols_.begin(), symbols_.end(), at,
                         [](const FunctionSymbol& s, ImageAddr a) { return s.address < a; });
    return found != symbols_.end() && found->address == at;
  }
  using Iterator = std::vector<FunctionSymbol>::const_iterator;

  [[nodiscard]] ImageAddr end_of(Iterator symbol) const {
    std::uint64_t size = symbol->size;
    if (size == 0) {
      Iterator next = symbol;
      while (next != symbols_.end() && next->address == symbol->address) ++next;
      size = next == symbols_.end() ? kMaxFunction : next->address - symbol->address;
    }
    return symbol->address + std::min(size, kMaxFunction);
  }
  void keep(Iterator symbol) {
    ranges_.push_back({symbol->address, end_of(symbol)});
    if (symbol->is_function) names_.insert(without_cold(symbol->name));
  }

  const std::vector<FunctionSymbol>& symbols_;
  std::vector<CodeRange> ranges_;
  std::set<std::string_view> names_;
};

std::vector<CodeRange> ranges_of(const std::shared_ptr<const elf::ElfFile>& file,
                                 std::span<const ImageAddr> code) {
  Ranges ranges(*file);
  for (const ImageAddr at : code) ranges.add(at);
  ranges.add_thunks();
  ranges.add_jump_targets(file);
  const auto start = file->symbol_named(kEntryStart);
  const auto end = file->symbol_named(kEntryEnd);
  if (start && end && end->address - start->address <= kMaxEntryCode)
    ranges.add({start->address, end->address});
  return ranges.finish();
}

// A segment becomes one for each kept range, which reaches up to the next one.
void add_segment(const elf::ElfFile& file, const elf::Segment& segment,
                 std::span<const CodeRange> ranges, elf::ElfWriter& out) {
  const ImageAddr end = segment.address + segment.memory_size;
  ImageAddr at = segment.address;
  Bytes bytes;
  for (const CodeRange& range : ranges) {
    if (!segment.executable || range.end <= segment.address || range.start >= end) continue;
    const ImageAddr start = std::max(range.start, segment.address);
    if (start != at) out.add_segment(at, start - at, true, segment.writable, bytes);
    at = start;
    bytes = file.bytes_at(start, std::min(range.end, end) - start);
  }
  out.add_segment(at, end - at, segment.executable, segment.writable, bytes);
}

std::vector<elf::ElfWriter::Symbol> symbols_of(const elf::ElfFile& file,
                                               std::span<const CodeRange> ranges) {
  std::vector<elf::ElfWriter::Symbol> kept;
  bool was_kept = false;
  std::uint64_t after = 0;
  for (const FunctionSymbol& symbol : file.symbols()) {
    const bool inside = overlaps(ranges, symbol.address, symbol.address + 1);
    // The first symbol behind a kept range says where the last one in it ends.
    const bool first_after = !inside && (was_kept || symbol.address.value == after);
    if (first_after) after = symbol.address.value;
    was_kept = inside;
    if (!inside && !first_after) continue;
    constexpr std::array<std::uint8_t, 3> kBindings = {STB_LOCAL, STB_WEAK, STB_GLOBAL};
    const std::uint8_t type = symbol.is_function ? STT_FUNC : STT_NOTYPE;
    const std::uint8_t binding = kBindings[static_cast<std::size_t>(symbol.binding)];
    kept.push_back({symbol.name, symbol.address, symbol.size,
                    static_cast<std::uint8_t>(ELF64_ST_INFO(binding, type))});
  }
  return kept;
}

}  // namespace

std::vector<std::byte> minimize_image(const std::shared_ptr<const elf::ElfFile>& file,
                                      std::span<const ImageAddr> code) {
  using unwind::cfi::SectionKind;
  const std::vector<CodeRange> ranges = ranges_of(file, code);
  elf::ElfWriter out(file->arch(), file->is_64(), file->type());
  std::vector<elf::Segment> segments = file->segments();
  std::sort(segments.begin(), segments.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  for (const elf::Segment& segment : segments) add_segment(*file, segment, ranges, out);
  out.set_symbols(symbols_of(*file, ranges));
  const std::uint8_t address_size = file->is_64() ? 8 : 4;
  std::vector<std::byte> eh_frame;
  std::vector<std::byte> debug_frame;
  OrcTables orc;
  if (const auto section = file->section(".eh_frame")) {
    eh_frame = minimize_cfi(*section, SectionKind::kEhFrame, address_size, ranges);
    out.add_section(".eh_frame", SHT_PROGBITS, SHF_ALLOC, section->address, eh_frame);
  }
  if (const auto section = file->section(".debug_frame")) {
    debug_frame = minimize_cfi(*section, SectionKind::kDebugFrame, address_size, ranges);
    out.add_section(".debug_frame", SHT_PROGBITS, 0, {0}, debug_frame);
  }
  const auto orc_ips = file->section(".orc_unwind_ip");
  const auto orc_rows = file->section(".orc_unwind");
  const auto orc_header = file->section(".orc_header");  // from Linux 6.4 on
  if (orc_ips && orc_rows) {
    orc = minimize_orc(*orc_ips, *orc_rows, ranges);
    out.add_section(".orc_unwind_ip", SHT_PROGBITS, SHF_ALLOC, orc_ips->address, orc.ips);
    out.add_section(".orc_unwind", SHT_PROGBITS, SHF_ALLOC, orc_rows->address, orc.rows);
  }
  if (orc_header)
    out.add_section(".orc_header", SHT_PROGBITS, SHF_ALLOC, orc_header->address, orc_header->bytes);
  return out.write();
}

}  // namespace ringside::cases
