#include "elf/go_functions.h"

#include <cstring>
#include <optional>

#include "base/little_endian.h"

namespace ringside::elf {
namespace {

// The first word of the table.
constexpr std::uint32_t kGo116 = 0xfffffffa;
constexpr std::uint32_t kGo118 = 0xfffffff0;
constexpr std::uint32_t kGo120 = 0xfffffff1;

constexpr std::size_t kHeadBytes = 8;  // of the header, before its words
constexpr std::size_t kPointerSizeAt = 7;
constexpr std::size_t kMostFunctions = 4'000'000;

// Nothing where the table ends before.
std::optional<std::uint64_t> number_at(Bytes table, std::uint64_t at, std::size_t size) {
  if (at > table.size() || size > table.size() - at) return std::nullopt;
  return load_unsigned(table, at, size);
}

std::string_view name_at(Bytes table, std::uint64_t at) {
  if (at >= table.size()) return {};
  const char* const start = reinterpret_cast<const char*>(table.data()) + at;
  const std::size_t room = table.size() - at;
  const std::size_t size = ::strnlen(start, room);
  return size == room ? std::string_view() : std::string_view(start, size);
}

// The header. Entries are offsets from `text`, or in Go 1.16 addresses.
struct Layout {
  std::uint64_t functions = 0;  // how many
  std::uint64_t text = 0;
  std::uint64_t names = 0;   // where they begin in the table
  std::uint64_t lookup = 0;  // where the entries begin, of which each has two numbers
  std::size_t entry_size = 4;
};

std::optional<Layout> layout_of(Bytes table, ImageAddr text) {
  if (table.size() < kHeadBytes) return std::nullopt;
  const auto magic = load<std::uint32_t>(table);
  const auto pointer_size = std::to_integer<std::size_t>(table[kPointerSizeAt]);
  const bool is_116 = magic == kGo116;
  if (!is_116 && magic != kGo118 && magic != kGo120) return std::nullopt;
  if (pointer_size != 4 && pointer_size != 8) return std::nullopt;
  const auto word = [&](std::size_t number) {
    return number_at(table, kHeadBytes + number * pointer_size, pointer_size);
  };
  // The number of functions and that of files; from 1.18 on the text's start; names, units, files,
  // values by pc, and the functions.
  const std::size_t names = is_116 ? 2 : 3;
  const auto functions = word(0);
  const auto names_at = word(names);
  const auto lookup = word(names + 4);
  if (!functions || !names_at || !lookup || *functions > kMostFunctions) return std::nullopt;
  Layout layout{.functions = *functions, .names = *names_at, .lookup = *lookup};
  if (is_116) layout.entry_size = pointer_size;
  if (!is_116) {
    const std::uint64_t start = word(2).value_or(0);
    layout.text = start != 0 ? start : text.value;
  }
  return layout;
}

}  // namespace

std::vector<FunctionSymbol> go_functions(Bytes table, ImageAddr text) {
  std::vector<FunctionSymbol> functions;
  const auto layout = layout_of(table, text);
  if (!layout) return functions;
  const std::size_t size = layout->entry_size;
  // Behind the last entry is where its function ends.
  for (std::uint64_t n = 0; n < layout->functions; ++n) {
    const std::uint64_t at = layout->lookup + n * 2 * size;
    const auto start = number_at(table, at, size);
    const auto function = number_at(table, at + size, size);
    const auto end = number_at(table, at + 2 * size, size);
    if (!start || !function || !end || *end < *start) break;
    // The entry's own number comes first, then an offset of 32 bits.
    const auto name = number_at(table, layout->lookup + *function + size, sizeof(std::uint32_t));
    if (!name) break;
    const std::string_view text_of = name_at(table, layout->names + *name);
    if (!text_of.empty())
      functions.push_back(
          {{layout->text + *start}, *end - *start, text_of, SymbolBinding::kLocal, true});
  }
  return functions;
}

}  // namespace ringside::elf
