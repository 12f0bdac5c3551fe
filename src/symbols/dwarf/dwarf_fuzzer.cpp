#include <cstddef>
#include <cstdint>

#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/dwarf/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::symbols;
  const auto pieces =
      dwarf::fuzzing::split_pieces({reinterpret_cast<const std::byte*>(data), size});
  const auto file = dwarf::fuzzing::make_file(pieces, 0, false);
  if (!file) return 0;
  const auto symbols =
      DwarfSymbols::from_elf(file, std::make_shared<dwarf::fuzzing::Files>(pieces));
  if (!symbols) return 0;
  // The corpus' code lies there.
  for (std::uint64_t address = 0x401000; address < 0x401300; address += 24)
    (void)symbols->lookup({address});
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{8}, ~std::uint64_t{0}})
    (void)symbols->lookup({address});
  return 0;
}
