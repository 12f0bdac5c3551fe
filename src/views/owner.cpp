#include "views/owner.h"

namespace ringside::views {

std::string owner_name(const profile::Profile& profile, const profile::SampleGroup& group,
                       OwnerLevel level) {
  if (level == OwnerLevel::kNone) return {};
  std::string name(profile.strings[group.comm]);
  if (level == OwnerLevel::kComm || !group.pid) return name;
  name += fmt::format("-{}", *group.pid);
  return level == OwnerLevel::kPid ? name
                                   : name + fmt::format("/{}", group.tid.value_or(*group.pid));
}

}  // namespace ringside::views
