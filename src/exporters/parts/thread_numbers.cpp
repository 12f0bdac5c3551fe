#include "exporters/parts/thread_numbers.h"

#include "profile/sanitize.h"

namespace ringside::exporters {

ThreadNumbers thread_of(const profile::Owner& owner) {
  if (owner.disposition == wire::Disposition::kIdle) return {0, 0};
  const std::uint32_t pid = owner.pid.value_or(kNobody);
  return {pid, owner.tid.value_or(pid)};
}

std::string_view comm_of(const profile::DetailedProfile& profile, const profile::Owner& owner) {
  if (owner.disposition == wire::Disposition::kIdle) return "swapper";
  const std::string_view comm = profile.profile().strings[owner.comm];
  return comm.empty() ? profile::kNobodyName : comm;
}

}  // namespace ringside::exporters
