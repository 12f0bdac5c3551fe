#include "views/owner.h"

#include <fmt/core.h>

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

const char* level_name(PrivilegeLevel level) {
  constexpr const char* kNames[kPrivilegeLevelCount] = {"unknown", "kernel", "user", "firmware",
                                                        "guest"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string vcpu_name(VcpuId vcpu) {
  return vcpu == recording::kNoVcpu ? "no vcpu" : fmt::format("vcpu {}", vcpu.value);
}

}  // namespace ringside::views
