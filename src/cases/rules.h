#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"

namespace ringside::cases {

// Where a case is made to take its rules from: an image without the sections of other sources.
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

// The same image without the sections that stand before `rules`.
[[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> limited_to(
    Rules rules, const std::shared_ptr<const elf::ElfFile>& image);

}  // namespace ringside::cases
