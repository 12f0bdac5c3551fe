#include "importers/folded_recording.h"
#include "importers/fuzzed_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringside::importers::import_fuzzed(ringside::importers::import_folded, data, size);
  return 0;
}
