#include "importers/firefox/firefox.h"
#include "importers/fuzzed_import.h"

// Feeds any bytes to the importer of the Firefox Profiler's files.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringside::importers::import_fuzzed(&ringside::importers::import_firefox, data, size);
  return 0;
}
