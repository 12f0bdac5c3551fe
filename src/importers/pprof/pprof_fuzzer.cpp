#include "importers/fuzzed_import.h"
#include "importers/pprof/pprof.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const importers::Input input{"fuzzed", {reinterpret_cast<const std::byte*>(data), size}, {}};
  (void)importers::pprof_likeness(input, {});
  importers::import_fuzzed(importers::import_pprof, data, size);
  return 0;
}
