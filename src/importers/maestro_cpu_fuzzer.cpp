#include "importers/fuzzed_import.h"
#include "importers/maestro_cpu.h"

// Whole stacks, then pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  using namespace ringside::importers;
  import_fuzzed(import_maestro, data, size);
  ImportOptions options;
  options.maestro_name = [](GuestVirt at) {
    return at.value % 3 == 0 ? std::nullopt : std::optional<std::string>("f");
  };
  import_fuzzed(import_maestro, data, size, options);
  static_cast<void>(
      maestro_likeness({"fuzzed", {reinterpret_cast<const std::byte*>(data), size}, {}}, {}));
  return 0;
}
