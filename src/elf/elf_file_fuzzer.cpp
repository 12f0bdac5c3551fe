#include <cstddef>
#include <cstdint>

#include "elf/elf_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const auto opened = ringside::elf::ElfFile::from_bytes({bytes, bytes + size}, "fuzzed");
  if (!opened) return 0;
  const ringside::elf::ElfFile& file = **opened;
  for (const auto& symbol : file.symbols()) (void)file.bytes_at(symbol.address, 16);
  for (const char* name : {".text", ".eh_frame", ".debug_frame", ".debug_text"})
    (void)file.section(name);
  (void)file.build_id_hex();
  (void)file.symbol_named("linux_banner");
  return 0;
}
