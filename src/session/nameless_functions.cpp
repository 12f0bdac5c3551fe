#include "session/nameless_functions.h"

#include <algorithm>

#include "guestos/emerald/guest_program.h"
#include "unwind/cfi/table.h"

namespace ringside::session {
namespace {

bool is_named(const std::vector<elf::FunctionSymbol>& symbols, ImageAddr at) {
  auto after = std::upper_bound(
      symbols.begin(), symbols.end(), at,
      [](ImageAddr to, const elf::FunctionSymbol& symbol) { return to < symbol.address; });
  if (after == symbols.begin()) return false;
  --after;
  return after->address == at || at - after->address < after->size;
}

}  // namespace

std::vector<symbols::PackedFunction> nameless_functions(std::shared_ptr<const elf::ElfFile> file,
                                                        std::string_view image_name) {
  std::vector<symbols::PackedFunction> found;
  const unwind::Platform* platform = unwind::find_platform(file->arch());
  // A program that nobody knows is shown by its addresses.
  if (platform == nullptr || image_name == guestos::emerald::kUnknownProgram) return found;
  const ImageAddr entry = file->entry();
  const std::vector<elf::FunctionSymbol>& symbols = file->symbols();
  for (const auto& range : unwind::cfi::Table(file, *platform).functions()) {
    if (is_named(symbols, range.start)) continue;
    const bool is_entry = entry.value != 0 && entry - range.start < range.size;
    found.push_back({range.start, range.size,
                     is_entry ? std::string("_start")
                              : fmt::format("{}+{:#x}", image_name, range.start.value)});
  }
  return found;
}

}  // namespace ringside::session
