#include <cstddef>
#include <cstdint>

#include "symbols/kallsyms/kallsyms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::symbols;
  const ringside::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  for (const unsigned pointer_size : {4u, 8u}) {
    const auto tables = kallsyms::find_tables(bytes, pointer_size);
    if (!tables) continue;
    (void)kallsyms::link_address(bytes, *tables, 0);
    const auto list = kallsyms::decode(bytes, *tables, 0xffffffff81000000, 0xffffffff81000000);
    if (list) (void)list->address_of("_text");
  }
  return 0;
}
