#include "importers/fuzzed_import.h"
#include "importers/json_lines/json_lines.h"

// Feeds any bytes to the importer of ringside's own JSON Lines.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringside::importers::import_fuzzed(&ringside::importers::import_json_lines, data, size);
  return 0;
}
