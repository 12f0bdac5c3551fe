#include "importers/asterinas_json.h"
#include "importers/fuzzed_import.h"

// Feeds any bytes to the importer of Asterinas' JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringside::importers::import_fuzzed(&ringside::importers::import_asterinas_json, data, size);
  return 0;
}
