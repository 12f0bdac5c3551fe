#include "views/section_sum.h"

#include <algorithm>
#include <utility>

namespace ringside::views {

using profile::NodeId;
using profile::SampleGroup;

void SectionSum::add(const SampleGroup& group) {
  switch (profile_.owner_of(group).disposition) {
    case wire::Disposition::kSampled:
      section_.sampled += group.weight;
      section_.extent += profile::extent_of(group.weight);
      section_.samples += group.samples;
      if (group.stack != profile::kNoNode &&
          (!options_.only_with_parent || owners_.parent_of(group.stack)))
        stacks_.push_back({owners_.of(group), &group});
      break;
    case wire::Disposition::kIdle:
      section_.idle += group.weight;
      break;
    case wire::Disposition::kSkipped:
      section_.skipped += group.weight;
      break;
    case wire::Disposition::kFailed:
      section_.failed += group.weight;
      break;
  }
}

OverheadSection SectionSum::finish(const RowOrder& order) && {
  add_stacks();
  section_.rows = take_rows();
  order.sort(section_.rows);
  return std::move(section_);
}

void SectionSum::add_stacks() {
  owners_first_ = numbers_.next;
  // The profile has them by stack.
  std::stable_sort(stacks_.begin(), stacks_.end(),
                   [](const OwnedStack& a, const OwnedStack& b) { return a.owner < b.owner; });
  for (std::size_t i = 0; i < stacks_.size(); ++i) {
    constexpr std::size_t kAhead = 8;
    if (i + kAhead < stacks_.size())
      __builtin_prefetch(&profile_.stacks[stacks_[i + kAhead].group->stack]);
    if (i > 0 && stacks_[i].owner != stacks_[i - 1].owner) {
      leave(0);
      owners_first_ = numbers_.next;
    }
    add_stack(*stacks_[i].group);
  }
  leave(0);
}

std::vector<OverheadRow> SectionSum::take_rows() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    OverheadRow& row = rows_[i];
    const Sum& sum = sums_[i];
    row.self = sum.self;
    row.total = sum.total;
    row.self_in_kernel = sum.self_in_kernel;
    row.self_in_user = sum.self_in_user;
    row.self_samples = sum.self_samples;
    row.depth = sum.depth;
    row.kind = sum.kind;
    row.inlined = sum.inlined;
  }
  std::erase_if(rows_, [](const OverheadRow& row) {
    return row.total == 0 && row.self == 0 && row.self_samples == 0;
  });
  return std::move(rows_);
}

std::uint32_t SectionSum::row_of(const SampleGroup& group, profile::FrameId frame) {
  std::uint64_t& number = numbers_.of_code[codes_.of(frame)];
  if (number >= owners_first_)
    return static_cast<std::uint32_t>(rows_.size() - (numbers_.next - number));
  number = numbers_.next++;
  rows_.push_back(new_row(group, profile_.frames[frame]));
  sums_.emplace_back();
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

OverheadRow SectionSum::new_row(const SampleGroup& group, const profile::Frame& frame) const {
  OverheadRow row;
  const profile::Owner& of = profile_.owner_of(group);
  if (has(SortKey::kComm)) row.comm = of.comm;
  if (has(SortKey::kCgroup)) row.cgroup = of.cgroup;
  if (keys_.has_process()) row.pid = of.pid;
  if (has(SortKey::kTid)) row.tid = of.tid;
  if (has(SortKey::kTask)) row.tid = of.tid ? of.tid : of.pid;
  if (has(SortKey::kVcpu)) row.vcpu = of.vcpu;
  if (has(SortKey::kTime)) row.span_ns = of.span_ns;
  if (has(SortKey::kParent)) row.parent = owners_.parent_of(group.stack);
  if (has(SortKey::kSymbol)) row.function = frame.function;
  if (has(SortKey::kSourceLine)) row.line = frame.line;
  if (has(SortKey::kSymbol) || has(SortKey::kDso))
    row.image = profile_.functions[frame.function].image;
  return row;
}

void SectionSum::add_stack(const SampleGroup& group) {
  std::size_t common = path_.size();
  while (common > 0 && (group.stack < path_[common - 1].node ||
                        group.stack >= profile_.stacks[path_[common - 1].node].end))
    --common;
  leave(common);
  new_.clear();
  const NodeId last = path_.empty() ? profile::kNoNode : path_.back().node;
  for (NodeId id = group.stack; id != last; id = profile_.stacks[id].parent) new_.push_back(id);
  for (auto id = new_.rbegin(); id != new_.rend(); ++id) enter(*id, group);
  path_.back().weight += group.weight;
  const auto leaf = std::find_if(path_.rbegin(), path_.rend(),
                                 [](const Step& step) { return step.row != kNoRow; });
  if (leaf != path_.rend()) add_leaf(sums_[leaf->row], group);
}

void SectionSum::add_leaf(Sum& sum, const SampleGroup& group) const {
  sum.self += group.weight;
  sum.self_samples += group.samples;
  switch (profile_.owner_of(group).level) {
    case PrivilegeLevel::kKernel:
      sum.self_in_kernel += group.weight;
      break;
    case PrivilegeLevel::kUser:
      sum.self_in_user += group.weight;
      break;
    case PrivilegeLevel::kUnknown:
    case PrivilegeLevel::kFirmware:
    case PrivilegeLevel::kGuest:
      break;
  }
}

void SectionSum::enter(NodeId node, const SampleGroup& group) {
  const profile::Frame& frame = profile_.frames[profile_.stacks[node].frame];
  if (frame.inlined && !options_.inlined_rows) {
    path_.push_back({node, kNoRow, false});
    return;
  }
  const std::uint32_t row = row_of(group, profile_.stacks[node].frame);
  Sum& sum = sums_[row];
  if (sum.kind == profile::Kind::kInterrupt) sum.kind = frame.kind;
  sum.inlined = frame.inlined && sum.inlined;
  sum.depth = std::min(sum.depth, static_cast<std::uint32_t>(path_.size()));
  path_.push_back({node, row, sum.open++ == 0});
}

void SectionSum::leave(std::size_t kept) {
  while (path_.size() > kept) {
    const Step step = path_.back();
    path_.pop_back();
    if (!path_.empty()) path_.back().weight += step.weight;
    if (step.row == kNoRow) continue;
    Sum& sum = sums_[step.row];
    --sum.open;
    if (step.is_outermost) sum.total += step.weight;
  }
}

}  // namespace ringside::views
