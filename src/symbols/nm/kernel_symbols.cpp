#include "symbols/nm/kernel_symbols.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/nm/nm_text.h"

namespace ringside::symbols {
namespace {

constexpr std::size_t kMaxText = std::size_t{256} << 20;
constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 63;
constexpr std::uint64_t kUpperHalf32 = 0x40000000;  // i386, 1G/3G: the lowest split

struct Known {
  ImageAddr address;
  bool once = true;
};

// The names of a list, or of a file; static functions of several files may share one.
template <class Symbols>
std::unordered_map<std::string_view, Known> by_name(const Symbols& symbols) {
  std::unordered_map<std::string_view, Known> known;
  known.reserve(symbols.size());
  for (const auto& symbol : symbols) {
    const auto [entry, added] = known.try_emplace(symbol.name, Known{symbol.address});
    if (!added) entry->second.once = false;
  }
  return known;
}

// How far a list's functions lie above those of a file with the same names, for names that are once
// in both: a list may have one of several static functions of a name.
std::vector<std::uint64_t> distances(const elf::ElfFile& file,
                                     const std::unordered_map<std::string_view, Known>& list) {
  std::vector<std::uint64_t> found;
  const auto own = by_name(file.symbols());
  for (const elf::FunctionSymbol& symbol : file.symbols()) {
    const auto listed = list.find(symbol.name);
    if (listed == list.end() || !listed->second.once || !own.at(symbol.name).once) continue;
    found.push_back(listed->second.address - symbol.address);
  }
  return found;
}

std::optional<ImageAddr> lowest_kernel_segment(const elf::ElfFile& file) {
  const std::uint64_t least = file.is_64() ? kUpperHalf : kUpperHalf32;
  std::optional<ImageAddr> lowest;
  for (const elf::Segment& segment : file.segments())
    if (segment.address.value >= least && (!lowest || segment.address < *lowest))
      lowest = segment.address;
  return lowest;
}

bool is_in_file(const elf::ElfFile& file, ImageAddr address) {
  return std::any_of(file.segments().begin(), file.segments().end(),
                     [&](const elf::Segment& segment) { return segment.contains(address); });
}

// How far the list lies above the file: the distance that most functions have, of the first few of
// them. Nothing where they have no name in common. Error kMismatch: too few of them agree.
Result<std::optional<std::uint64_t>> sure_slide(
    const elf::ElfFile& file, const std::unordered_map<std::string_view, Known>& known,
    const std::string& name) {
  constexpr std::size_t kTries = 8;
  const std::vector<std::uint64_t> all = distances(file, known);
  std::optional<std::uint64_t> slide;
  std::size_t equal = 0;
  for (std::size_t n = 0; n < std::min(all.size(), kTries); ++n) {
    const auto count = static_cast<std::size_t>(std::count(all.begin(), all.end(), all[n]));
    if (count <= equal) continue;
    equal = count;
    slide = all[n];
  }
  if (equal * 10 < all.size() * 9)
    return fail(ErrorCode::kMismatch,
                "{} is of another kernel than {}: of the {} functions in both, {} are where they "
                "should be; give the one of the same build",
                name, file.name(), all.size(), equal);
  return slide;
}

}  // namespace

Result<SymbolList> read_kernel_symbols(const std::filesystem::path& path) {
  // Not mapped: /proc/kallsyms and pipes have no size.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  std::string text;
  while (file && text.size() <= kMaxText && std::feof(file.get()) == 0 &&
         std::ferror(file.get()) == 0) {
    const std::size_t size = text.size();
    text.resize(size + kBlock);
    text.resize(size + std::fread(text.data() + size, 1, kBlock, file.get()));
  }
  if (!file || std::ferror(file.get()) != 0)
    return fail(ErrorCode::kIo, "{} cannot be read: {}", path.string(), std::strerror(errno));
  if (text.size() > kMaxText)
    return fail(ErrorCode::kFormat, "{} is over {} MB: no list of a kernel's symbols",
                path.string(), kMaxText >> 20);
  RINGSIDE_ASSIGN(auto list, parse_nm_text(std::move(text), path.string()));
  std::erase_if(list.symbols, [](const ListedSymbol& symbol) { return !symbol.module.empty(); });
  return list;
}

Result<void> move_to(const elf::ElfFile& file, const std::string& list_name, SymbolList& list) {
  const auto known = by_name(list.symbols);
  RINGSIDE_ASSIGN(std::optional<std::uint64_t> slide, sure_slide(file, known, list_name));
  if (!slide) {
    const auto text = list.address_of("_text");
    const auto lowest = lowest_kernel_segment(file);
    const bool has_moved = text && lowest && !is_in_file(file, *text);
    slide = has_moved && (*text - *lowest) % kPage == 0 ? *text - *lowest : 0;
  }
  // Absolute symbols are numbers (offsets into per-CPU data), no places.
  for (ListedSymbol& symbol : list.symbols)
    if (symbol.type != 'A' && symbol.type != 'a') symbol.address = {symbol.address.value - *slide};
  return {};
}

Result<std::optional<std::uint64_t>> distance_between(const elf::ElfFile& file,
                                                      const elf::ElfFile& running) {
  return sure_slide(file, by_name(running.symbols()), "the recorded kernel");
}

}  // namespace ringside::symbols
