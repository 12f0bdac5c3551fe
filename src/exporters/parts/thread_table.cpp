#include "exporters/parts/thread_table.h"

#include <fmt/core.h>

#include <map>
#include <tuple>

#include "views/owner.h"

namespace ringside::exporters {
namespace {

// Threads before vCPUs.
using Key = std::tuple<bool, std::uint32_t, std::uint32_t>;

Key key_of(const profile::Owner& owner) {
  if (!owner.pid) return {true, owner.vcpu.value, 0};
  return {false, *owner.pid, owner.tid.value_or(*owner.pid)};
}

}  // namespace

ThreadTable::ThreadTable(const profile::DetailedProfile& profile) {
  const std::vector<profile::Owner>& owners = profile.profile().owners;
  std::map<Key, const profile::Owner*> last;  // with the name that the thread had at last
  for (const profile::Owner& owner : owners) last[key_of(owner)] = &owner;
  std::map<Key, std::uint32_t> numbers;
  for (const auto& [key, owner] : last) {
    numbers[key] = static_cast<std::uint32_t>(threads_.size());
    Thread thread{owner->pid, owner->tid.value_or(owner->pid.value_or(0)), owner->vcpu,
                  views::vcpu_name(owner->vcpu)};
    if (owner->pid)
      thread.name =
          fmt::format("{} {}/{}", profile.profile().strings[owner->comm], *owner->pid, thread.tid);
    threads_.push_back(std::move(thread));
  }
  for (const profile::Owner& owner : owners) by_owner_.push_back(numbers[key_of(owner)]);
}

}  // namespace ringside::exporters
