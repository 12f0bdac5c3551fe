// A target description; the input's parts after NUL bytes are the annexes, which every include gets
// in turn.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/gdb/protocol/target_description.h"
#include "engines/gdb/register_layout.h"

using namespace ringside;
using namespace ringside::engines::gdb;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> parts{""};
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == 0)
      parts.emplace_back();
    else
      parts.back() += static_cast<char>(data[i]);
  }
  std::size_t next = 0;
  const auto description = parse_target_description(parts[0], [&](const std::string&) {
    return Result<std::string>(parts[++next % parts.size()]);
  });
  if (!description) return 0;
  const auto layout = RegisterLayout::from_description(*description, size);
  if (!layout) return 0;
  arch::Registers registers;
  const std::string hex(2 * size, '5');
  layout->decode_g(hex, registers);
  for (const AskedFor when : {AskedFor::kEverySample, AskedFor::kKernelSample, AskedFor::kOnDemand})
    for (std::size_t n = 0; n < layout->numbers_for_p(when).size(); ++n)
      layout->decode_p(when, n, hex, registers);
  return 0;
}
