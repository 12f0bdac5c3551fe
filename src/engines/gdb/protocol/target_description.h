#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace ringside::engines::gdb {

// A register as a stub describes it (gdb manual, "Target Descriptions").
struct TargetRegister {
  std::string name;
  std::uint32_t number;  // for `p`, and its rank in `g`
  std::uint32_t bits;
};

struct TargetDescription {
  Arch arch = Arch::kUnknown;
  std::string architecture;               // gdb's name, "i386:x86-64"
  std::vector<TargetRegister> registers;  // by number
};

// Fetches an annex: the text of a file that a description names with xi:include.
using FetchAnnex = std::function<Result<std::string>(const std::string& name)>;

// Enters: the text of target.xml. Leaves: all registers of it and of what it includes. Errors:
// kFormat, and what `fetch` returns. Parts that it does not recognize (types, groups, features'
// names) are skipped. Includes are followed eight deep, 64 in all, so that a description that
// includes itself ends.
[[nodiscard]] Result<TargetDescription> parse_target_description(std::string_view target_xml,
                                                                 const FetchAnnex& fetch);

}  // namespace ringside::engines::gdb
