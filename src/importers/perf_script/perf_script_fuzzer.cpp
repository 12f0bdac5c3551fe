#include "importers/fuzzed_import.h"
#include "importers/perf_script/perf_script.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const importers::Input input{"fuzzed", {reinterpret_cast<const std::byte*>(data), size}, {}};
  (void)importers::perf_script_likeness(input, {});
  importers::import_fuzzed(importers::import_perf_script, data, size);
  return 0;
}
