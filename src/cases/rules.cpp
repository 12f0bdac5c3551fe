#include "cases/rules.h"

namespace ringside::cases {

std::vector<Rules> rules_of(const elf::ElfFile& image) {
  std::vector<Rules> rules;
  if (image.section(".orc_unwind")) rules.push_back(Rules::kOrc);
  if (image.section(".eh_frame") || image.section(".debug_frame")) rules.push_back(Rules::kCfi);
  rules.push_back(Rules::kCode);
  return rules;
}

}  // namespace ringside::cases
