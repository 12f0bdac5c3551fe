#include "exporters/perf/perf_threads.h"

namespace ringside::exporters::perf {

ThreadComms::ThreadComms(const profile::DetailedProfile& profile, const PerfImages& images)
    : profile_(profile), has_several_sources_(profile.sources().size() > 1) {
  for (std::uint32_t group = 0; group < profile.group_count(); ++group) {
    if (!images.shows(group)) continue;
    const profile::Owner& owner = profile.owner_of(group);
    const Comm comm{thread_of(owner), comm_of(profile, owner)};
    const auto [told, added] = told_.try_emplace(key_of(comm.thread), Told{comm.name});
    if (added) first_.push_back(comm);
    told->second.has_others |= told->second.name != comm.name;
  }
}

// Samples of several sources do not come in order of time, so a name that was told earlier in the
// file may hold later.
bool ThreadComms::must_tell(std::uint32_t group) {
  const profile::Owner& owner = profile_.owner_of(group);
  Told& told = told_[key_of(thread_of(owner))];
  const std::string_view name = comm_of(profile_, owner);
  if (told.has_others && has_several_sources_) return true;
  if (told.name == name) return false;
  told.name = name;
  return true;
}

}  // namespace ringside::exporters::perf
