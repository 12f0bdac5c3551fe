#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cases/case_text.h"
#include "cases/entry_text.h"

// The text of a case and that of trap-frame layouts. A text that was read must be written so that
// it reads the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  using namespace ringside::cases;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto parts = parse_case(text, "fuzz")) {
    const std::string written = case_text(*parts);
    const auto again = parse_case(written, "fuzz");
    if (!again || case_text(*again) != written || again->capture.bytes != parts->capture.bytes ||
        !difference(parts->expected, again->expected).empty())
      std::abort();
  }
  if (const auto entries = parse_entries(text, Arch::kX86_64, "fuzz")) {
    const std::string written = entries_text(*entries, Arch::kX86_64);
    const auto again = parse_entries(written, Arch::kX86_64, "fuzz");
    if (!again || entries_text(*again, Arch::kX86_64) != written) std::abort();
  }
  return 0;
}
