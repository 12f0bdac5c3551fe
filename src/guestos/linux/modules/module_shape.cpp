#include "guestos/linux/modules/module_shape.h"

#include <algorithm>
#include <cstring>

#include "base/little_endian.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMaxSize = 64 << 20;
constexpr std::uint64_t kMaxSymbols = 1 << 20;
constexpr std::uint64_t kReach = std::uint64_t{1} << 31;

// The words of a struct module.
class Words {
 public:
  Words(Bytes bytes, GuestVirt at, bool is_64) : bytes_(bytes), at_(at), word_(is_64 ? 8 : 4) {}

  [[nodiscard]] std::uint64_t word_size() const { return word_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] GuestVirt address() const { return at_; }
  // 0 outside.
  [[nodiscard]] std::uint64_t word(std::size_t offset) const { return load(offset, word_); }
  [[nodiscard]] std::uint64_t u32(std::size_t offset) const { return load(offset, 4); }
  [[nodiscard]] std::string_view text(std::size_t offset, std::size_t limit) const {
    if (offset >= bytes_.size()) return {};
    const char* start = reinterpret_cast<const char*>(bytes_.data()) + offset;
    return {start, strnlen(start, std::min(limit, bytes_.size() - offset))};
  }
  [[nodiscard]] bool is_near(std::uint64_t address) const {
    return address != 0 && address - at_.value + kReach < 2 * kReach;
  }
  [[nodiscard]] bool is_code_range(std::uint64_t base, std::uint64_t size) const {
    return base % kPage == 0 && is_near(base) && size != 0 && size <= kMaxSize;
  }

 private:
  [[nodiscard]] std::uint64_t load(std::size_t offset, std::size_t size) const {
    const bool is_there = offset <= bytes_.size() && bytes_.size() - offset >= size;
    return is_there ? load_unsigned(bytes_, offset, size) : 0;
  }
  Bytes bytes_;
  GuestVirt at_;
  std::size_t word_;
};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

struct Range {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
};

// struct module_layout, whose mod_tree_node is at `node`.
std::optional<Range> layout_before(const Words& words, std::size_t node) {
  const std::size_t sizes = node - 16;
  if (sizes < words.word_size()) return std::nullopt;
  const std::uint64_t base = words.word(sizes - words.word_size());
  const std::uint64_t size = words.u32(sizes);
  const std::uint64_t text = words.u32(sizes + 4);
  const std::uint64_t read_only = words.u32(sizes + 8);
  const std::uint64_t after_init = words.u32(sizes + 12);
  const bool grows = text <= read_only && read_only <= after_init && after_init <= size;
  const bool holds_itself = words.address().value - base < size;
  if (!grows || !holds_itself || !words.is_code_range(base, size) || text == 0) return std::nullopt;
  return Range{base, text};
}

// struct module_memory: {base, size} in 6.4, with {rw_copy, is_rox} between them in 6.13, with
// is_rox alone later.
std::optional<Range> memory_before(const Words& words, std::size_t node) {
  const std::size_t word = words.word_size();
  if (node < 4 * word) return std::nullopt;
  const std::uint64_t last = words.u32(node - 4);
  const bool padded = word == 8 && last == 0;
  const std::uint64_t size = padded ? words.u32(node - 8) : last;
  // With 64 bits is_rox and size share a word.
  const std::size_t first = 2;
  const std::size_t farthest = padded ? 2 : word == 8 ? 3 : 4;
  for (std::size_t back = first; back <= farthest; ++back) {
    const std::uint64_t base = words.word(node - back * word);
    if (size % kPage == 0 && words.is_code_range(base, size)) return Range{base, size};
  }
  return std::nullopt;
}

std::optional<Range> find_text(const Words& words) {
  for (std::size_t at = 32; at + words.word_size() <= words.size(); at += words.word_size()) {
    if (words.word(at) != words.address().value) continue;
    if (const auto layout = layout_before(words, at)) return layout;
    if (const auto memory = memory_before(words, at)) return memory;
  }
  return std::nullopt;
}

void find_symbols(const Words& words, ModuleShape& shape) {
  const std::size_t word = words.word_size();
  for (std::size_t at = 0; at + 5 * word <= words.size(); at += word) {
    if (words.word(at) != words.address().value + at + word) continue;
    const std::uint64_t symbols = words.word(at + word);
    const std::uint64_t count = words.u32(at + 2 * word);
    const std::uint64_t strings = words.word(at + 3 * word);
    const std::uint64_t types = words.word(at + 4 * word);
    if (!words.is_near(symbols) || !words.is_near(strings) || count == 0 || count > kMaxSymbols)
      continue;
    shape.symbols = {symbols};
    shape.symbol_count = count;
    shape.strings = {strings};
    // layout_symtab() (kernel/module/kallsyms.c) puts the types behind the strings since 5.2.
    if (types > strings && types - strings <= kMaxSize) shape.strings_size = types - strings;
    return;
  }
}

void find_orc(const Words& words, ModuleShape& shape) {
  constexpr std::uint64_t kMaxRows = 1 << 20;
  constexpr std::uint64_t kMostBetween = 1 << 16;  // other sections, and alignment
  constexpr std::size_t kMostCandidates = 4;
  if (words.word_size() != 8) return;
  for (std::size_t at = 0; at + 24 <= words.size(); at += 8) {
    const std::uint64_t count = words.word(at);
    const std::uint64_t ip = words.word(at + 8);
    const std::uint64_t entries = words.word(at + 16);
    if (count == 0 || count > kMaxRows || !words.is_near(ip) || !words.is_near(entries)) continue;
    const std::uint64_t lower = ip < entries ? 4 * count : 6 * count;  // bytes
    const std::uint64_t apart = ip < entries ? entries - ip : ip - entries;
    if (ip % 4 != 0 || entries % 2 != 0 || apart < lower || apart - lower > kMostBetween) continue;
    if (shape.maybe_orc.size() < kMostCandidates)
      shape.maybe_orc.push_back({{ip}, {entries}, count});
  }
}

}  // namespace

std::optional<ModuleShape> read_module_shape(Bytes bytes, GuestVirt at, bool is_64) {
  const Words words(bytes, at, is_64);
  const std::size_t list = module_list_offset(is_64);
  const std::size_t name = list + 2 * words.word_size();
  const std::size_t name_size = 64 - words.word_size();  // MODULE_NAME_LEN
  ModuleShape shape;
  shape.name = words.text(name, name_size);
  shape.next = {words.word(list)};
  shape.is_live = words.u32(0) == 0;  // MODULE_STATE_LIVE
  const bool named = !shape.name.empty() && shape.name.size() < name_size &&
                     std::all_of(shape.name.begin(), shape.name.end(), is_name_character);
  const auto text = find_text(words);
  if (!named || !text) return std::nullopt;
  shape.text = {text->base};
  shape.text_size = text->size;
  find_symbols(words, shape);
  find_orc(words, shape);
  return shape;
}

}  // namespace ringside::guestos
