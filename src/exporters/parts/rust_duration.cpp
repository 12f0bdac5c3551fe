#include "exporters/parts/rust_duration.h"

#include <fmt/core.h>

namespace ringside::exporters {

std::string rust_duration(std::uint64_t ns) {
  struct Unit {
    std::uint64_t ns;
    int digits;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1'000'000'000, 9, "s"}, {1'000'000, 6, "ms"}, {1'000, 3, "µs"}};
  for (const Unit& unit : kUnits) {
    if (ns < unit.ns) continue;
    std::string text = fmt::format("{}.{:0{}}", ns / unit.ns, ns % unit.ns, unit.digits);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text + unit.name;
  }
  return fmt::format("{}ns", ns);
}

}  // namespace ringside::exporters
