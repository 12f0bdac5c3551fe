#include "symbols/linux_image/linux_image.h"

#include <algorithm>

#include "arch/arch_info.h"
#include "symbols/kallsyms/kallsyms.h"
#include "symbols/linux_image/table_search.h"

namespace ringside::symbols {
namespace {

using kernel_image::KernelSegment;

constexpr std::uint64_t kMaxHead = std::uint64_t{4} << 20;
constexpr std::uint64_t kMaxInitText = std::uint64_t{16} << 20;  // kernels have about 1 MiB

// Where flat images are linked to that do not say it, since they hold nothing that depends on it
// (kallsyms relative to its own place, from 7.0 on): anywhere, as their slide is found afterwards.
constexpr std::uint64_t kAnyKernelAddress = 0xffffffff80000000;

unsigned pointer_size(Arch arch) { return arch::roles_of(arch).pointer_size; }

std::uint64_t kernel_start(Arch arch) { return arch::info_of(arch).lowest_kernel_address; }

// Takes `list` for the image's symbols if its text is where the image has bytes.
Result<void> take_symbols(LinuxImage& image, SymbolList list, std::string_view source) {
  const auto begin = list.address_of("_stext");
  const auto end = list.address_of("_etext");
  if (!begin || !end || *end <= *begin)
    return fail(ErrorCode::kNotFound, "{} has no _stext and _etext", source);
  image.text = {*begin, *end};
  if (image.bytes_of(image.text).size() < image.text.size() / 2)
    return fail(ErrorCode::kNotFound, "{} says that code is at {}, where no bytes of it are",
                source, *begin);
  image.symbols = std::move(list);
  return {};
}

// kallsyms and the image's text, from the first segment that holds them.
Result<void> read_symbols(LinuxImage& image, std::uint64_t base) {
  Error error{ErrorCode::kNotFound, "no kallsyms: there are no bytes"};
  for (const KernelSegment& segment : image.segments) {
    const auto tables = kallsyms::find_tables(segment.bytes, pointer_size(image.arch));
    if (!tables) {
      error = tables.error();
      continue;
    }
    auto list = kallsyms::decode(segment.bytes, *tables, segment.address.value, base);
    if (!list) {
      error = std::move(list).error();
      continue;
    }
    auto taken = take_symbols(image, std::move(*list), "kallsyms");
    if (taken) return {};
    error = std::move(taken).error();
  }
  return tl::unexpected<Error>(std::move(error));
}

// Entry points in front of _stext, as riscv64 has them.
std::optional<AddressRange> head_text_of(const LinuxImage& image) {
  for (const ListedSymbol& symbol : image.symbols.symbols) {
    if (symbol.address >= image.text.begin) break;
    if (symbol.is_text() && image.text.begin - symbol.address < kMaxHead &&
        !image.bytes_of({symbol.address, symbol.address + 1}).empty())
      return AddressRange{symbol.address, image.text.begin};
  }
  return std::nullopt;
}

LinuxImage without_symbols(Arch arch, std::vector<KernelSegment> segments) {
  LinuxImage image;
  image.arch = arch;
  image.segments = std::move(segments);
  std::sort(image.segments.begin(), image.segments.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  return image;
}

// A running kernel has unmapped that code, and stacks of its first threads still go through it: it
// keeps its names, without bytes.
void add_unmapped_init_text(LinuxImage& image) {
  if (!image.init_text || image.init_text->size() == 0) return;
  const AddressRange code = *image.init_text;
  if (code.size() > kMaxInitText) return;  // a damaged list
  const auto after = std::find_if(image.segments.begin(), image.segments.end(),
                                  [&](const auto& each) { return each.address > code.begin; });
  const bool is_free = after == image.segments.end() || after->address >= code.end;
  if (after != image.segments.begin()) {
    const KernelSegment& before = *(after - 1);
    if (code.begin - before.address < before.memory_size) return;
  }
  if (is_free) image.segments.insert(after, {code.begin, {}, code.size()});
}

LinuxImage with_tables(LinuxImage image) {
  image.head_text = head_text_of(image);
  find_linux_tables(image);
  add_unmapped_init_text(image);
  return image;
}

Result<LinuxImage> read(Arch arch, std::vector<KernelSegment> segments, std::uint64_t base) {
  LinuxImage image = without_symbols(arch, std::move(segments));
  RINGSIDE_TRY(read_symbols(image, base));
  return with_tables(std::move(image));
}

// By a list of symbols from elsewhere.
Result<LinuxImage> read(Arch arch, std::vector<KernelSegment> segments, SymbolList list,
                        const std::string& list_name) {
  LinuxImage image = without_symbols(arch, std::move(segments));
  RINGSIDE_TRY(take_symbols(image, std::move(list), list_name));
  return with_tables(std::move(image));
}

// Those of its PT_LOAD segments that are in the kernel's half of addresses: x86_64's per-CPU data
// is linked to 0.
std::vector<KernelSegment> segments_of(const elf::ElfFile& file) {
  std::vector<KernelSegment> segments;
  for (const elf::Segment& segment : file.segments())
    if (segment.address.value >= kernel_start(file.arch()))
      segments.push_back({segment.address, file.bytes_at(segment.address, segment.file_size),
                          segment.memory_size});
  return segments;
}

Result<LinuxImage> read_flat(const kernel_image::BootImage& boot) {
  RINGSIDE_ASSIGN(const auto tables, kallsyms::find_tables(boot.bytes, pointer_size(boot.arch)));
  auto linked = kallsyms::link_address(boot.bytes, tables, boot.text_offset);
  if (!linked && tables.addresses.encoding == kallsyms::Encoding::kPlaceRelative)
    linked = {kAnyKernelAddress, kAnyKernelAddress};
  if (!linked)
    return fail(ErrorCode::kNotFound, "{}: kallsyms is there, but not where it is linked to",
                boot.container);
  const std::uint64_t size = std::max<std::uint64_t>(boot.memory_size, boot.bytes.size());
  return read(boot.arch, {{{linked->image}, boot.bytes, size}}, linked->relative_base);
}

}  // namespace

Bytes LinuxImage::bytes_of(AddressRange range) const {
  for (const KernelSegment& segment : segments) {
    const std::uint64_t offset = range.begin - segment.address;
    if (offset < segment.bytes.size())
      return segment.bytes.subspan(offset, std::min(range.size(), segment.bytes.size() - offset));
  }
  return {};
}

std::string_view LinuxImage::version() const {
  if (!banner) return {};
  const Bytes bytes = bytes_of(*banner);
  const std::string_view line(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return line.substr(0, line.find_first_of(std::string_view("\n\0", 2)));
}

Result<LinuxImage> read_linux_image(Arch arch, std::vector<KernelSegment> segments) {
  const std::uint64_t base = segments.empty() ? 0 : segments.front().address.value;
  return read(arch, std::move(segments), base);
}

Result<LinuxImage> read_linux_image(const elf::ElfFile& file) {
  return read_linux_image(file.arch(), segments_of(file));
}

Result<LinuxImage> read_linux_image(const elf::ElfFile& file, SymbolList list,
                                    const std::string& list_name) {
  return read(file.arch(), segments_of(file), std::move(list), list_name);
}

Result<LinuxImage> with_symbols(const LinuxImage& image, SymbolList list,
                                const std::string& list_name) {
  return read(image.arch, image.segments, std::move(list), list_name);
}

Result<LinuxImage> read_linux_image(const kernel_image::BootImage& boot, SymbolList list,
                                    const std::string& list_name) {
  const auto text = list.address_of("_text");
  if (!text) return fail(ErrorCode::kNotFound, "{} has no _text", list_name);
  const std::uint64_t size = std::max<std::uint64_t>(boot.memory_size, boot.bytes.size());
  return read(boot.arch, {{*text, boot.bytes, size}}, std::move(list), list_name);
}

Result<LinuxImage> read_linux_image(const kernel_image::BootImage& boot) {
  if (boot.kind == kernel_image::PayloadKind::kFlat) return read_flat(boot);
  // Parsed for its program headers; its segments' bytes are the boot image's.
  RINGSIDE_ASSIGN(const auto file, elf::ElfFile::from_bytes(boot.bytes, boot.container));
  std::vector<KernelSegment> segments;
  for (const elf::Segment& segment : file->segments())
    if (segment.address.value >= kernel_start(file->arch()))
      segments.push_back({segment.address,
                          Bytes(boot.bytes).subspan(segment.offset.value, segment.file_size),
                          segment.memory_size});
  return read_linux_image(file->arch(), std::move(segments));
}

}  // namespace ringside::symbols
