#include "importers/folded_text.h"

// Whatever the text, the weights add up, and each group's stack is of the tree.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  (void)importers::is_folded_text(bytes);
  const auto profile = importers::read_folded_text(bytes, "fuzzed");
  if (!profile) return 0;
  std::uint64_t weight = 0;
  for (const profile::SampleGroup& group : profile->samples) {
    if (group.stack == profile::kNoNode || group.stack >= profile->stacks.size()) __builtin_trap();
    weight += group.weight;
  }
  if (weight != profile->totals.weight[0]) __builtin_trap();
  return 0;
}
