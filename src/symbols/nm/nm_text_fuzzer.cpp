#include <cstddef>
#include <cstdint>

#include "symbols/nm/listed_image.h"
#include "symbols/nm/nm_text.h"
#include "symbols/symbol_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::symbols;
  auto list = parse_nm_text({reinterpret_cast<const char*>(data), size}, "fuzzed");
  if (!list) return 0;
  const auto first = list->symbols.front().address;
  const auto image = elf_of_symbols(*list, ringside::Arch::kX86_64, "fuzzed");
  if (image && (*image)->segments().empty()) __builtin_trap();
  const SymbolTable table = SymbolTable::from_list(std::move(*list));
  (void)table.find(first);
  return 0;
}
