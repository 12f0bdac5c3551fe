#include "importers/fuzzed_import.h"
#include "importers/maestro_memtrace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::importers;
  import_fuzzed(import_maestro_memtrace, data, size);
  static_cast<void>(maestro_memtrace_likeness(
      {"fuzzed", {reinterpret_cast<const std::byte*>(data), size}, {}}, {}));
  return 0;
}
