#include "importers/fuzzed_import.h"
#include "importers/speedscope/speedscope.h"

// Feeds any bytes to the importer of speedscope's files.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringside::importers::import_fuzzed(&ringside::importers::import_speedscope, data, size);
  return 0;
}
