#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "elf/elf_file.h"
#include "unwind/rule.h"

namespace ringside::cases {

// Where a case is made to take its rules from: the tables of sources that come before stay unused.
enum class Rules : std::uint8_t {
  kOrc,   // .orc_unwind and what comes after it
  kCfi,   // .eh_frame and .debug_frame, and what comes after them
  kCode,  // frame pointers and instructions only
};
inline constexpr std::array<std::string_view, 3> kRulesNames = {"orc", "cfi", "code"};
[[nodiscard]] constexpr std::string_view name_of(Rules rules) {
  return kRulesNames[static_cast<std::size_t>(rules)];
}

// The sources that an image has: kOrc and kCfi as far as it has such sections, and kCode.
[[nodiscard]] std::vector<Rules> rules_of(const elf::ElfFile& image);

// The tables that an unwinder may use when it takes its rules from there.
[[nodiscard]] constexpr unwind::TableUse tables_of(Rules rules) {
  return {.orc = rules == Rules::kOrc, .cfi = rules != Rules::kCode};
}

}  // namespace ringside::cases
