#include "cases/rules.h"

#include <algorithm>
#include <cstring>

namespace ringside::cases {
namespace {

constexpr std::array<std::string_view, 3> kOrcSections = {".orc_unwind_ip", ".orc_unwind",
                                                          ".orc_header"};
constexpr std::array<std::string_view, 2> kCfiSections = {".eh_frame", ".debug_frame"};

// Renames sections: their names end up in no table of names that a reader knows.
void hide(std::span<const std::string_view> names, std::vector<std::byte>& file) {
  for (const std::string_view name : names) {
    const std::string whole = std::string(1, '\0') + std::string(name) + std::string(1, '\0');
    const Bytes pattern = as_bytes(whole);
    for (auto at = file.begin();; ++at) {
      at = std::search(at, file.end(), pattern.begin(), pattern.end());
      if (at == file.end()) break;
      *(at + 1) = std::byte{'-'};
    }
  }
}

}  // namespace

std::vector<Rules> rules_of(const elf::ElfFile& image) {
  std::vector<Rules> rules;
  if (image.section(kOrcSections[1])) rules.push_back(Rules::kOrc);
  if (image.section(kCfiSections[0]) || image.section(kCfiSections[1]))
    rules.push_back(Rules::kCfi);
  rules.push_back(Rules::kCode);
  return rules;
}

Result<std::shared_ptr<const elf::ElfFile>> limited_to(
    Rules rules, const std::shared_ptr<const elf::ElfFile>& image) {
  if (rules == Rules::kOrc) return image;
  const Bytes whole = image->file_bytes();
  std::vector<std::byte> bytes(whole.begin(), whole.end());
  hide(kOrcSections, bytes);
  if (rules == Rules::kCode) hide(kCfiSections, bytes);
  return elf::ElfFile::from_bytes(std::move(bytes), image->name());
}

}  // namespace ringside::cases
