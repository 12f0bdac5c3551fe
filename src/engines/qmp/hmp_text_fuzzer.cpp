// Fuzzes the parsers of the human monitor's output, for every architecture.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engines/qmp/hmp_memory.h"
#include "engines/qmp/hmp_registers.h"

using namespace ringside;
using namespace ringside::engines::qmp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Arch arch :
       {Arch::kUnknown, Arch::kX86_64, Arch::kI386, Arch::kAArch64, Arch::kRiscv64})
    if (parse_info_registers(arch, text).size() > size) std::abort();
  (void)parse_translation(text);
  std::array<std::byte, 64> bytes{};
  // The address that the text itself begins with, and one inside of a word.
  std::uint64_t start = 0;
  for (const char c : text.substr(0, text.find(':')))
    start = start << 4 | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  for (const std::uint64_t address : {start, start + 3})
    if (parse_dump(text, address, bytes) > bytes.size()) std::abort();
  return 0;
}
