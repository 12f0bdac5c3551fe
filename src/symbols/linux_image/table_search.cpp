#include "symbols/linux_image/table_search.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "symbols/btf/btf.h"
#include "symbols/linux_image/orc_tables.h"

namespace ringside::symbols {
namespace {

using kernel_image::KernelSegment;

// Code of .exit.text and alternatives lies behind that of .init.text, and has ORC, too.
constexpr std::uint64_t kBehindInitText = std::uint64_t{1} << 20;
constexpr std::size_t kMaxBanner = 1024;
constexpr std::size_t kPage = 4096;

// The places of the borders that linker scripts name; one pass over 150,000 symbols.
class Borders {
 public:
  explicit Borders(const SymbolList& list) {
    for (const ListedSymbol& symbol : list.symbols)
      if (symbol.name.starts_with("__") || symbol.name.starts_with("_sinit") ||
          symbol.name.starts_with("_einit"))
        places_.try_emplace(symbol.name, symbol.address);
  }

  [[nodiscard]] std::optional<AddressRange> range(const char* begin, const char* end) const {
    const auto first = places_.find(begin);
    const auto last = places_.find(end);
    if (first == places_.end() || last == places_.end() || last->second <= first->second)
      return std::nullopt;
    return AddressRange{first->second, last->second};
  }

 private:
  std::unordered_map<std::string_view, ImageAddr> places_;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::size_t> next_hit(Bytes bytes, std::size_t from, std::string_view text) {
  if (from >= bytes.size()) return std::nullopt;
  const void* hit = memmem(bytes.data() + from, bytes.size() - from, text.data(), text.size());
  if (hit == nullptr) return std::nullopt;
  return static_cast<std::size_t>(static_cast<const std::byte*>(hit) - bytes.data());
}

// "Linux version 6.1.0 (user@host) (compiler) #1 SMP …\n" (init/version-timestamp.c). Kernels since
// 6.1 hold a second one whose "#" has no number: init/version.c's, from before the build was
// counted.
std::optional<AddressRange> find_banner(const KernelSegment& segment) {
  constexpr std::string_view kStart = "Linux version ";
  for (auto hit = next_hit(segment.bytes, 0, kStart); hit;
       hit = next_hit(segment.bytes, *hit + 1, kStart)) {
    const char* text = reinterpret_cast<const char*>(segment.bytes.data()) + *hit;
    const std::size_t room = std::min(kMaxBanner, segment.bytes.size() - *hit);
    const std::size_t length = strnlen(text, room);
    const std::string_view line(text, length);
    if (length == room || length < kStart.size() + 2 || line.back() != '\n') continue;
    const std::size_t build = line.find(") #");
    if (is_digit(line[kStart.size()]) && build != std::string_view::npos && build + 3 < length &&
        is_digit(line[build + 3]))
      return AddressRange{segment.address + *hit, segment.address + *hit + length + 1};
  }
  return std::nullopt;
}

// Is this place in a file in the kernel's data? vDSOs have build ids, too.
bool is_in_embedded_elf(Bytes bytes, std::size_t at) {
  constexpr std::size_t kMaxPages = 4;
  for (std::size_t i = 0; i < kMaxPages && at / kPage >= i; ++i)
    if (std::memcmp(bytes.data() + (at / kPage - i) * kPage,
                    "\x7f"
                    "ELF",
                    4) == 0)
      return true;
  return false;
}

// A note "GNU" of type 3 with 20 bytes. Nothing where several could be the kernel's.
std::optional<AddressRange> find_build_id(const LinuxImage& image) {
  constexpr std::string_view kHead{"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0", 16};
  constexpr std::size_t kSize = kHead.size() + 20;
  std::optional<AddressRange> found;
  for (const KernelSegment& segment : image.segments) {
    for (auto hit = next_hit(segment.bytes, 0, kHead); hit;
         hit = next_hit(segment.bytes, *hit + 1, kHead)) {
      if (*hit % 4 != 0 || segment.bytes.size() - *hit < kSize ||
          is_in_embedded_elf(segment.bytes, *hit))
        continue;
      if (found) return std::nullopt;
      found = {segment.address + *hit, segment.address + *hit + kSize};
    }
  }
  return found;
}

// The note in [__start_notes, __stop_notes), among others.
std::optional<AddressRange> build_id_in(const LinuxImage& image, AddressRange notes) {
  LinuxImage part;
  part.segments = {{notes.begin, image.bytes_of(notes), notes.size()}};
  return find_build_id(part);
}

std::optional<AddressRange> find_btf_in(const LinuxImage& image) {
  std::optional<AddressRange> largest;
  for (const KernelSegment& segment : image.segments) {
    for (auto hit = find_btf(segment.bytes); hit; hit = find_btf(segment.bytes, *hit + 1)) {
      const std::size_t size = btf_size(segment.bytes.subspan(*hit));
      if (!largest || size > largest->size())
        largest = {segment.address + *hit, segment.address + *hit + size};
    }
  }
  return largest;
}

void find_orc_in(LinuxImage& image) {
  const ImageAddr end = image.init_text ? image.init_text->end + kBehindInitText : image.text.end;
  for (const KernelSegment& segment : image.segments) {
    const auto orc = find_orc(segment.bytes, segment.address, {image.text.begin, end});
    if (!orc) continue;
    image.orc_ip = {segment.address + orc->ip_begin, segment.address + orc->entries_begin};
    image.orc_entries = {segment.address + orc->entries_begin, segment.address + orc->end};
    return;
  }
}

// Linux 6.4 and later have .orc_header in front of the tables: 20 bytes, aligned to 4 like what
// follows (include/asm-generic/vmlinux.lds.h).
bool has_orc_header(std::string_view version) {
  constexpr std::size_t kPrefix = std::string_view("Linux version ").size();
  if (version.size() <= kPrefix) return false;
  const std::string text(version.substr(kPrefix));
  char* rest = nullptr;
  const long major = std::strtol(text.c_str(), &rest, 10);
  const long minor = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  return major > 6 || (major == 6 && minor >= 4);
}

}  // namespace

void find_linux_tables(LinuxImage& image) {
  const Borders borders(image.symbols);
  image.init_text = borders.range("_sinittext", "_einittext");
  image.eh_frame = borders.range("__eh_frame_start", "__eh_frame_end");
  image.btf = borders.range("__start_BTF", "__stop_BTF");
  if (!image.btf) image.btf = find_btf_in(image);
  for (const KernelSegment& segment : image.segments)
    if (!image.banner) image.banner = find_banner(segment);
  const auto notes = borders.range("__start_notes", "__stop_notes");
  image.build_id = notes ? build_id_in(image, *notes) : find_build_id(image);
  if (image.arch != Arch::kX86_64) return;
  image.orc_ip = borders.range("__start_orc_unwind_ip", "__stop_orc_unwind_ip");
  image.orc_entries = borders.range("__start_orc_unwind", "__stop_orc_unwind");
  image.orc_header = borders.range("__start_orc_header", "__stop_orc_header");
  if (!image.orc_ip || !image.orc_entries) {
    find_orc_in(image);
    if (image.orc_ip && has_orc_header(image.version()))
      image.orc_header = {image.orc_ip->begin - 20, image.orc_ip->begin};
  }
}

}  // namespace ringside::symbols
