#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cases/capture_text.h"
#include "cases/entry_text.h"
#include "cases/expected.h"

// The texts of a case. What is read must be written so that it reads the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  using namespace ringside::cases;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto capture = parse_registers(text, "fuzz")) {
    const std::string written = registers_text(*capture);
    const auto again = parse_registers(written, "fuzz");
    if (!again || registers_text(*again) != written) std::abort();
    (void)parse_memory(text, as_bytes(text), "fuzz", *capture);
  }
  wire::Capture capture;
  if (parse_memory(text, as_bytes(text.substr(0, 64)), "fuzz", capture))
    for (const wire::MemoryPiece& piece : capture.pieces) (void)capture.bytes_of(piece);
  if (const auto entries = parse_entries(text, Arch::kX86_64, "fuzz")) {
    const std::string written = entries_text(*entries, Arch::kX86_64);
    const auto again = parse_entries(written, Arch::kX86_64, "fuzz");
    if (!again || entries_text(*again, Arch::kX86_64) != written) std::abort();
  }
  if (const auto expected = parse_expected(text, "fuzz")) {
    const std::string written = expected_text(*expected);
    const auto again = parse_expected(written, "fuzz");
    if (!again || expected_text(*again) != written || !difference(*expected, *again).empty())
      std::abort();
  }
  return 0;
}
