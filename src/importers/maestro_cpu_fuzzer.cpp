#include "importers/maestro_cpu.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  importers::MaestroCpuReader reader({reinterpret_cast<const std::byte*>(data), size});
  std::vector<GuestVirt> addresses;
  while (true) {
    const auto more = reader.next(addresses);
    if (!more || !*more) return 0;
    if (addresses.empty() || addresses.size() > 64) __builtin_trap();
  }
}
