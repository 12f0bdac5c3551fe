#include "importers/fuzzed_import.h"
#include "importers/gdb_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const importers::Input input{"fuzzed", {reinterpret_cast<const std::byte*>(data), size}, {}};
  (void)importers::gdb_text_likeness(input, {});
  importers::import_fuzzed(importers::import_gdb_text, data, size);
  return 0;
}
