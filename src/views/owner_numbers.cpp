#include "views/owner_numbers.h"

namespace ringside::views {

std::uint32_t OwnerNumbers::of(const profile::SampleGroup& group) {
  if (keys_.has(SortKey::kParent)) return find(group);
  std::optional<std::uint32_t>& number = numbers_[group.owner];
  if (!number) number = find(group);
  return *number;
}

std::optional<profile::FunctionId> OwnerNumbers::parent_of(profile::NodeId leaf) const {
  for (profile::NodeId id = leaf; id != profile::kNoNode; id = profile_.stacks[id].parent) {
    const profile::Frame& frame = profile_.frames[profile_.stacks[id].frame];
    const profile::FunctionId function = frame.function;
    if (!frame.is_beyond && function < options_.is_parent.size() && options_.is_parent[function])
      return function;
  }
  return std::nullopt;
}

std::uint32_t OwnerNumbers::find(const profile::SampleGroup& group) {
  const profile::Owner& owner = profile_.owner_of(group);
  Fields fields;
  if (keys_.has(SortKey::kComm)) std::get<0>(fields) = owner.comm;
  if (keys_.has_process()) std::get<1>(fields) = owner.pid;
  if (keys_.has(SortKey::kTid)) std::get<2>(fields) = owner.tid;
  if (keys_.has(SortKey::kTask)) std::get<2>(fields) = owner.tid ? owner.tid : owner.pid;
  if (keys_.has(SortKey::kVcpu)) std::get<3>(fields) = owner.vcpu;
  if (keys_.has(SortKey::kParent)) std::get<4>(fields) = parent_of(group.stack);
  if (keys_.has(SortKey::kCgroup)) std::get<5>(fields) = owner.cgroup;
  if (keys_.has(SortKey::kTime)) std::get<6>(fields) = owner.span_ns;
  return known_.try_emplace(fields, static_cast<std::uint32_t>(known_.size())).first->second;
}

std::optional<std::uint32_t> OwnerNumbers::of(const OverheadRow& row) const {
  const Fields fields(row.comm, row.pid, row.tid, row.vcpu, row.parent, row.cgroup, row.span_ns);
  const auto number = known_.find(fields);
  return number == known_.end() ? std::nullopt : std::optional(number->second);
}

}  // namespace ringside::views
