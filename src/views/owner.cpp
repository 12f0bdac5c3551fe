#include "views/owner.h"

#include <fmt/core.h>

#include "profile/sanitize.h"

namespace ringside::views {

std::string owner_name(const profile::Profile& profile, const profile::Owner& owner, RootFrame by) {
  if (by == RootFrame::kNone || by == RootFrame::kModule) return {};
  std::string name(profile.strings[owner.comm]);
  if (by == RootFrame::kComm || !owner.pid) return name;
  name += fmt::format("-{}", *owner.pid);
  return by == RootFrame::kPid ? name : name + fmt::format("/{}", owner.tid.value_or(*owner.pid));
}

Root root_of(const profile::Profile& profile, const profile::SampleGroup& group, RootFrame by) {
  if (by != RootFrame::kModule || group.stack == profile::kNoNode) return {group.owner, 0};
  const profile::Frame& leaf = profile.frames[profile.stacks[group.stack].frame];
  return {group.owner, profile.functions[leaf.function].image};
}

std::string root_name(const profile::Profile& profile, const Root& root, RootFrame by) {
  const profile::Owner& owner = profile.owners[root.owner];
  if (owner.disposition == wire::Disposition::kIdle) return std::string(profile::kIdleName);
  if (by != RootFrame::kModule) return owner_name(profile, owner, by);
  return std::string(root.image == 0 ? profile::kNobodyName : profile.strings[root.image]);
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
