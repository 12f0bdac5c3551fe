#include "importers/fuzzed_import.h"
#include "importers/perf_data/perf_data.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringside::importers::import_fuzzed(ringside::importers::import_perf_data, data, size);
  return 0;
}
