#include "exporters/parts/thread_table.h"

#include <fmt/core.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

#include "views/owner.h"

namespace ringside::exporters {
namespace {

enum class Kind : std::uint8_t { kThread, kNamed, kVcpu };
using Key = std::tuple<Kind, std::uint32_t, std::uint32_t>;

Key key_of(const profile::Owner& owner) {
  if (owner.pid) return {Kind::kThread, *owner.pid, owner.tid.value_or(*owner.pid)};
  if (owner.comm != 0) return {Kind::kNamed, owner.comm, 0};
  return {Kind::kVcpu, owner.vcpu.value, 0};
}

}  // namespace

ThreadTable::ThreadTable(const profile::DetailedProfile& profile) {
  const std::vector<profile::Owner>& owners = profile.profile().owners;
  std::map<Key, const profile::Owner*> last;  // with the name that the thread had at last
  for (const profile::Owner& owner : owners) last[key_of(owner)] = &owner;
  std::map<Key, std::uint32_t> numbers;
  for (const auto& [key, owner] : last) {
    numbers[key] = static_cast<std::uint32_t>(threads_.size());
    const std::string_view comm = profile.profile().strings[owner->comm];
    Thread thread{.pid = owner->pid,
                  .tid = owner->tid.value_or(owner->pid.value_or(0)),
                  .vcpu = owner->vcpu,
                  .name = views::vcpu_name(owner->vcpu)};
    if (owner->pid) {
      thread.name = fmt::format("{} {}/{}", comm, *owner->pid, thread.tid);
    } else if (owner->comm != 0) {
      thread.comm = owner->comm;
      thread.name = comm;
    }
    threads_.push_back(std::move(thread));
  }
  for (const profile::Owner& owner : owners) by_owner_.push_back(numbers[key_of(owner)]);
}

}  // namespace ringside::exporters
