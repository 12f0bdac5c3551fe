#include "profile/owner_chooser.h"

#include <algorithm>
#include <string>

#include "profile/sanitize.h"

namespace ringside::profile {
namespace {

template <class T>
bool is_listed(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Whether samples are of the processes and threads that the filter wants.
bool is_wanted(const Filter& filter, const Owner& owner, const Profile& profile) {
  const auto number_is_wanted = [](const auto& list, const auto& number) {
    return list.empty() || (number && is_listed(list, *number));
  };
  return number_is_wanted(filter.pids, owner.pid) && number_is_wanted(filter.tids, owner.tid) &&
         (filter.comms.empty() ||
          is_listed(filter.comms, std::string(profile.strings[owner.comm])));
}

}  // namespace

OwnerChooser::OwnerChooser(Collector& collected, const Filter& filter, Profile& profile)
    : collected_(collected), filter_(filter), profile_(profile) {
  for (auto& chosen : chosen_) chosen.resize(collected.owners.size());
}

// The owner of an interrupt that is charged to nobody.
Owner OwnerChooser::nobody(const Owner& interrupted) {
  Owner owner;
  owner.vcpu = interrupted.vcpu;
  owner.level = interrupted.level;
  owner.span_ns = interrupted.span_ns;
  if (profile_.knows_processes) owner.comm = profile_.strings.intern(kInterruptName);
  return owner;
}

OwnerChooser::Choice OwnerChooser::owner_of(std::uint32_t recorded, bool is_interrupt) {
  std::optional<Choice>& chosen = chosen_[is_interrupt ? 1 : 0][recorded];
  if (!chosen) chosen = choose(collected_.owners[recorded], is_interrupt);
  return *chosen;
}

void OwnerChooser::note_last_names(const Owner& owner) {
  for (const std::optional<std::uint32_t>& tid : {owner.pid, owner.tid})
    if (tid && owner.pid && !profile_.last_names.contains({*owner.pid, *tid}))
      profile_.last_names[{*owner.pid, *tid}] = collected_.last_name(*owner.pid, *tid);
}

OwnerChooser::Choice OwnerChooser::choose(const Collector::SampleOwner& of, bool is_interrupt) {
  Owner owner = of;
  if (is_interrupt) owner = nobody(of);
  if (owner.comm == 0 && profile_.knows_processes)
    owner.comm = profile_.strings.intern(kNobodyName);
  if (of.disposition == wire::Disposition::kSampled && !is_wanted(filter_, owner, profile_))
    return std::nullopt;
  const auto [it, added] = ids_.try_emplace(owner, static_cast<OwnerId>(profile_.owners.size()));
  if (added) profile_.owners.push_back(owner);
  if (added) note_last_names(owner);
  return it->second;
}

}  // namespace ringside::profile
