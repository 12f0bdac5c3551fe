#include "importers/fuzzed_import.h"
#include "importers/guest_stream/guest_stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::importers;
  ImportOptions options;
  import_fuzzed(import_guest_stream, data, size, options);
  options.counter_hz = 1e9;
  import_fuzzed(import_guest_stream, data, size, options);
  const Input input{"fuzzed", {reinterpret_cast<const std::byte*>(data), size}, {}};
  (void)guest_stream_likeness(input, options);
  return 0;
}
