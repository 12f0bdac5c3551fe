#include "session/synthesized_symbols.h"

#include <algorithm>

#include "arch/arch_info.h"
#include "elf/image_map.h"
#include "unwind/cfi/table.h"
#include "unwind/x86/function_starts.h"

namespace ringside::session {
namespace {

// glibc's is 34 to 56 bytes long in Debian's programs. The longest that it had is aarch64's of
// programs that are not position-independent, before 2.34: 21 instructions, three addresses of four
// each among them (sysdeps/aarch64/start.S, MOVL in sysdep.h).
constexpr std::uint64_t kMaxEntrySize = 84;
constexpr std::uint64_t kMaxFunction = 64 * 1024;  // of those that nobody bounds
constexpr std::size_t kMaxCalled = 1 << 17;

bool is_named(const std::vector<elf::FunctionSymbol>& symbols, ImageAddr at) {
  auto after = std::upper_bound(
      symbols.begin(), symbols.end(), at,
      [](ImageAddr to, const elf::FunctionSymbol& symbol) { return to < symbol.address; });
  if (after == symbols.begin()) return false;
  --after;
  return after->address == at || at - after->address < after->size;
}

// The size of a function that begins at `entry`, where neither ranges nor symbols hold that: up to
// what comes next. `functions` are those of call-frame information.
std::uint64_t entry_size(const elf::ElfFile& file, ImageAddr entry,
                         const std::vector<unwind::cfi::Table::Function>& functions) {
  std::uint64_t size = kMaxEntrySize;
  const auto end_at = [&](ImageAddr next) {
    if (entry < next) size = std::min(size, next - entry);
  };
  for (const auto& function : functions) end_at(function.start);
  for (const elf::FunctionSymbol& symbol : file.symbols()) end_at(symbol.address);
  for (const elf::Segment& segment : file.segments())
    if (segment.contains(entry)) end_at(segment.address + segment.memory_size);
  if (const auto text = file.section(".text")) end_at(text->address + text->size);
  return size;
}

using Functions = std::vector<unwind::cfi::Table::Function>;

// The range of `sorted` that holds `at`, or the next one.
Functions::const_iterator range_at(const Functions& sorted, ImageAddr at) {
  return std::lower_bound(sorted.begin(), sorted.end(), at, [](const auto& range, ImageAddr to) {
    return range.start + range.size <= to;
  });
}

// In order, and where some overlap, one range that has them all.
Functions merged(Functions functions) {
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
  Functions result;
  for (const auto& next : functions) {
    if (result.empty() || next.start - result.back().start >= result.back().size)
      result.push_back(next);
    else
      result.back().size =
          std::max(result.back().size, next.start - result.back().start + next.size);
  }
  return result;
}

// Whether nearly all code is in `known` functions, or in those of symbols.
bool are_most(const elf::ElfFile& file, const Functions& known) {
  std::uint64_t in_known = 0;
  std::uint64_t in_symbols = 0;
  std::uint64_t code = 0;
  for (const auto& range : known) in_known += range.size;
  for (const elf::FunctionSymbol& symbol : file.symbols()) in_symbols += symbol.size;
  for (const elf::Segment& segment : file.segments())
    if (segment.executable) code += segment.file_size;
  return std::max(in_known, in_symbols) >= code - code / 10;
}

// x86 code that calls go to, and that neither symbols nor `functions` hold: each up to what comes
// next. Some are places in a function.
Functions called_functions(const elf::ElfFile& file, const Functions& functions) {
  Functions found;
  if (!arch::info_of(file.arch()).is_x86) return found;
  const Functions known = merged(functions);
  if (are_most(file, known)) return found;
  const unwind::x86::FunctionStarts starts(file);
  const auto end_last_at = [&](ImageAddr start) {
    if (!found.empty()) found.back().size = std::min(found.back().size, start - found.back().start);
  };
  for (const ImageAddr start : starts.all()) {
    const auto range = range_at(known, start);
    const bool is_known = range != known.end() && range->start <= start;
    const bool is_symbol = starts.is_symbol(start);
    if (is_symbol || is_known) end_last_at(start);
    if (is_symbol || is_known || is_named(file.symbols(), start) || !starts.may_begin(start))
      continue;
    if (found.size() == kMaxCalled) break;
    end_last_at(start);
    const std::uint64_t to_known = range == known.end() ? kMaxFunction : range->start - start;
    found.push_back({start, std::min(to_known, kMaxFunction)});
  }
  return found;
}

}  // namespace

std::vector<symbols::PackedFunction> synthesized_symbols(std::shared_ptr<const elf::ElfFile> file,
                                                         std::string_view image_name) {
  std::vector<symbols::PackedFunction> found;
  const arch::ArchInfo* platform = arch::find_info(file->arch());
  // A program that nobody knows is shown by its addresses.
  if (platform == nullptr || image_name == elf::kUnknownProgram) return found;
  const ImageAddr entry = file->entry();
  const std::vector<elf::FunctionSymbol>& symbols = file->symbols();
  bool entry_has_name = entry.value == 0 || !file->is_code(entry) || is_named(symbols, entry);
  const auto functions = unwind::cfi::Table(file, *platform).functions();
  const auto name_at = [&](ImageAddr start) {
    return fmt::format("{}+{:#x}", image_name, start.value);
  };
  for (const auto& range : functions) {
    const bool is_entry = entry.value != 0 && entry - range.start < range.size;
    entry_has_name |= is_entry;
    if (is_named(symbols, range.start)) continue;
    found.push_back({range.start, range.size, is_entry ? "_start" : name_at(range.start)});
  }
  for (const auto& range : called_functions(*file, functions))
    if (range.start != entry) found.push_back({range.start, range.size, name_at(range.start)});
  // Call-frame information of nc on arm64, for one, does not cover the entry.
  if (!entry_has_name) found.push_back({entry, entry_size(*file, entry, functions), "_start"});
  return found;
}

}  // namespace ringside::session
