#include "importers/fuzzed_import.h"
#include "importers/redox/redox_rings.h"

namespace {

using namespace ringside;
using namespace ringside::importers;

// One CPU's ring, and those of two that have a half each.
void import_rings(Result<Imported> (*read)(std::span<const Input>, const ImportOptions&, Target&),
                  Bytes bytes, const ImportOptions& options) {
  import_fuzzed(read, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), options);
  const std::size_t middle = bytes.size() / 16 * 8;
  const Input inputs[] = {{"ring.0", bytes.first(middle), {}},
                          {"ring.1", bytes.subspan(middle), {}}};
  FuzzedTarget target;
  const auto result = read(std::span<const Input>(inputs), options, target);
  if (result.has_value() != target.is_created()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  ImportOptions options;
  options.context_names = {{1, "one"}};
  import_rings(import_redox_a, bytes, options);
  options.counter_hz = 1e9;
  import_rings(import_redox_b, bytes, options);
  const Input input{"fuzzed", bytes, {}};
  // An import reads all that looks like a ring.
  FuzzedTarget a;
  if (redox_a_likeness(input, options) != Likeness::kNone &&
      !import_redox_a({&input, 1}, options, a))
    __builtin_trap();
  FuzzedTarget b;
  if (redox_b_likeness(input, options) != Likeness::kNone &&
      !import_redox_b({&input, 1}, options, b))
    __builtin_trap();
  return 0;
}
