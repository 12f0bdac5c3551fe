#include "profile/profile.h"

#include <array>

namespace ringside::profile {

std::string_view name_of(Kind kind) {
  static constexpr std::array<std::string_view, kKindCount> kNames = {
      "kernel", "user", "interrupt", "firmware", "guest", "code", "unknown"};
  return kNames[static_cast<std::size_t>(kind)];
}

Weight Profile::weight_of(wire::Disposition disposition) const {
  Weight weight = 0;
  for (const SampleGroup& group : samples)
    if (owner_of(group).disposition == disposition) weight += group.weight;
  return weight;
}

}  // namespace ringside::profile
