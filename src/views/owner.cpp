#include "views/owner.h"

namespace ringside::views {

std::string owner_name(const profile::Profile& profile, const profile::Owner& owner,
                       OwnerLevel level) {
  if (level == OwnerLevel::kNone) return {};
  std::string name(profile.strings[owner.comm]);
  if (level == OwnerLevel::kComm || !owner.pid) return name;
  name += fmt::format("-{}", *owner.pid);
  return level == OwnerLevel::kPid ? name
                                   : name + fmt::format("/{}", owner.tid.value_or(*owner.pid));
}

}  // namespace ringside::views
