#include "views/overhead.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace ringside::views {
namespace {

using profile::FunctionId;
using profile::Kind;
using profile::NodeId;
using profile::Profile;
using profile::SampleGroup;

class Keys {
 public:
  explicit Keys(const OverheadOptions& options) {
    for (const SortKey key : options.keys) has_[static_cast<std::size_t>(key)] = true;
  }
  [[nodiscard]] bool has(SortKey key) const { return has_[static_cast<std::size_t>(key)]; }

 private:
  std::array<bool, static_cast<std::size_t>(SortKey::kParent) + 1> has_{};
};

// Numbers for the owners of samples, as far as the keys distinguish owners. All sections share
// them, for there may be as many sections as owners.
class OwnerNumbers {
 public:
  OwnerNumbers(const Profile& profile, const OverheadOptions& options, const Keys& keys)
      : profile_(profile), options_(options), keys_(keys), numbers_(profile.owners.size()) {}

  [[nodiscard]] std::uint32_t of(const SampleGroup& group) {
    if (keys_.has(SortKey::kParent)) return find(group);
    std::optional<std::uint32_t>& number = numbers_[group.owner];
    if (!number) number = find(group);
    return *number;
  }
  [[nodiscard]] std::optional<FunctionId> parent_of(NodeId leaf) const {
    for (NodeId id = leaf; id != profile::kNoNode; id = profile_.stacks[id].parent) {
      const FunctionId function = profile_.frames[profile_.stacks[id].frame].function;
      if (function < options_.is_parent.size() && options_.is_parent[function]) return function;
    }
    return std::nullopt;
  }

 private:
  // The fields of a row that belong to the sample, and not to a frame of its stack.
  using Fields =
      std::tuple<profile::StringId, std::optional<std::uint32_t>, std::optional<std::uint32_t>,
                 std::optional<VcpuId>, std::optional<FunctionId>, profile::StringId>;

  [[nodiscard]] std::uint32_t find(const SampleGroup& group) {
    const profile::Owner& owner = profile_.owner_of(group);
    Fields fields;
    if (keys_.has(SortKey::kComm)) std::get<0>(fields) = owner.comm;
    if (keys_.has(SortKey::kPid)) std::get<1>(fields) = owner.pid;
    if (keys_.has(SortKey::kTid)) std::get<2>(fields) = owner.tid;
    if (keys_.has(SortKey::kVcpu)) std::get<3>(fields) = owner.vcpu;
    if (keys_.has(SortKey::kParent)) std::get<4>(fields) = parent_of(group.stack);
    if (keys_.has(SortKey::kCgroup)) std::get<5>(fields) = owner.cgroup;
    return known_.try_emplace(fields, static_cast<std::uint32_t>(known_.size())).first->second;
  }

  const Profile& profile_;
  const OverheadOptions& options_;
  const Keys& keys_;
  std::map<Fields, std::uint32_t> known_;
  std::vector<std::optional<std::uint32_t>> numbers_;  // by the profile's owner
};

// Sort key of rows of equal weight: function, image, comm, pid, tid, vCPU, parent, cgroup.
using Names = std::tuple<std::string_view, std::string_view, std::string_view,
                         std::optional<std::uint32_t>, std::optional<std::uint32_t>,
                         std::optional<VcpuId>, std::string_view, std::string_view>;

// Numbers for rows, which ascend through all owners and all sections: the row of a function, where
// its number is one of the owner at hand.
struct RowNumbers {
  explicit RowNumbers(const Profile& profile)
      : of_code(std::max(profile.functions.size(), profile.strings.size())) {}
  std::uint64_t next = 1;
  std::vector<std::uint64_t> of_code;  // 0: it has none
};

// Sums up one section. The stacks of one owner are taken in the order of the tree, so that only
// those frames are looked at that a stack does not have in common with the one before.
class Accumulator {
 public:
  Accumulator(const Profile& profile, const OverheadOptions& options, const Keys& keys,
              OwnerNumbers& owners, RowNumbers& numbers)
      : profile_(profile), options_(options), keys_(keys), owners_(owners), numbers_(numbers) {}

  void add(const SampleGroup& group) {
    switch (profile_.owner_of(group).disposition) {
      case wire::Disposition::kSampled:
        section_.sampled += group.weight;
        section_.extent += profile::extent_of(group.weight);
        section_.samples += group.samples;
        if (group.stack != profile::kNoNode) stacks_.push_back({owners_.of(group), &group});
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

  OverheadSection finish() && {
    owners_first_ = numbers_.next;
    // The profile has them by stack.
    std::stable_sort(stacks_.begin(), stacks_.end(),
                     [](const OwnedStack& a, const OwnedStack& b) { return a.owner < b.owner; });
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
      if (i > 0 && stacks_[i].owner != stacks_[i - 1].owner) {
        leave(0);
        owners_first_ = numbers_.next;
      }
      add_stack(stacks_[i]);
    }
    leave(0);
    std::erase_if(rows_, [](const OverheadRow& row) { return row.total == 0 && row.self == 0; });
    section_.rows = std::move(rows_);
    const auto weight = [&](const OverheadRow& row) {
      const std::uint64_t self = profile::extent_of(row.self);
      const std::uint64_t total = profile::extent_of(row.total);
      return options_.sort == OverheadOptions::Sort::kSelf ? std::pair(self, total)
                                                           : std::pair(total, self);
    };
    std::sort(section_.rows.begin(), section_.rows.end(),
              [&](const OverheadRow& a, const OverheadRow& b) {
                if (weight(a) != weight(b)) return weight(a) > weight(b);
                return names(a) < names(b);
              });
    return std::move(section_);
  }

 private:
  struct OwnedStack {
    std::uint32_t owner;
    const SampleGroup* group;
  };
  static constexpr std::size_t kNoRow = ~std::size_t{0};
  // A frame of the stack at hand.
  struct Step {
    NodeId node;
    std::size_t row;             // kNoRow where it has none of its own
    bool is_outermost;           // of those with this row
    profile::Weight weight = 0;  // of the stacks that have it
  };

  [[nodiscard]] bool has(SortKey key) const { return keys_.has(key); }

  // The number of a frame's code, as far as the keys distinguish code.
  [[nodiscard]] std::uint32_t code_of(const profile::Frame& frame) const {
    if (has(SortKey::kSymbol)) return frame.function;
    return has(SortKey::kDso) ? profile_.functions[frame.function].image : 0;
  }

  std::size_t row_of(const SampleGroup& group, const profile::Frame& frame) {
    std::uint64_t& number = numbers_.of_code[code_of(frame)];
    if (number >= owners_first_) return rows_.size() - (numbers_.next - number);
    number = numbers_.next++;
    OverheadRow& row = rows_.emplace_back();
    const profile::Owner& of = profile_.owner_of(group);
    if (has(SortKey::kComm)) row.comm = of.comm;
    if (has(SortKey::kCgroup)) row.cgroup = of.cgroup;
    if (has(SortKey::kPid)) row.pid = of.pid;
    if (has(SortKey::kTid)) row.tid = of.tid;
    if (has(SortKey::kVcpu)) row.vcpu = of.vcpu;
    if (has(SortKey::kParent)) row.parent = owners_.parent_of(group.stack);
    if (has(SortKey::kSymbol)) row.function = frame.function;
    if (has(SortKey::kSymbol) || has(SortKey::kDso))
      row.image = profile_.functions[frame.function].image;
    row.inlined = true;
    row.kind = Kind::kInterrupt;
    open_.push_back(0);
    return rows_.size() - 1;
  }

  void add_stack(const OwnedStack& stack) {
    const SampleGroup& group = *stack.group;
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
    if (leaf == path_.rend()) return;
    rows_[leaf->row].self += group.weight;
    rows_[leaf->row].self_samples += group.samples;
  }

  void enter(NodeId node, const SampleGroup& group) {
    const profile::Frame& frame = profile_.frames[profile_.stacks[node].frame];
    if (frame.inlined && !options_.inlined_rows) {
      path_.push_back({node, kNoRow, false});
      return;
    }
    const std::size_t index = row_of(group, frame);
    OverheadRow& row = rows_[index];
    if (row.kind == Kind::kInterrupt) row.kind = frame.kind;
    row.inlined = frame.inlined && row.inlined;
    path_.push_back({node, index, open_[index]++ == 0});
  }

  // Leaves all but the first `kept` frames of the stack at hand.
  void leave(std::size_t kept) {
    while (path_.size() > kept) {
      const Step step = path_.back();
      path_.pop_back();
      if (!path_.empty()) path_.back().weight += step.weight;
      if (step.row == kNoRow) continue;
      --open_[step.row];
      if (step.is_outermost) rows_[step.row].total += step.weight;
    }
  }

  [[nodiscard]] std::string_view name(const std::optional<FunctionId>& function) const {
    return function ? profile_.strings[profile_.functions[*function].name] : std::string_view();
  }
  [[nodiscard]] Names names(const OverheadRow& row) const {
    return std::tuple(name(row.function), profile_.strings[row.image], profile_.strings[row.comm],
                      row.pid, row.tid, row.vcpu, name(row.parent), profile_.strings[row.cgroup]);
  }

  const Profile& profile_;
  const OverheadOptions& options_;
  const Keys& keys_;
  OwnerNumbers& owners_;
  RowNumbers& numbers_;
  OverheadSection section_;
  std::vector<OverheadRow> rows_;
  std::uint64_t owners_first_ = 0;  // number of a row of the owner at hand
  std::vector<OwnedStack> stacks_;
  std::vector<Step> path_;           // root first
  std::vector<NodeId> new_;          // reused
  std::vector<std::uint32_t> open_;  // by row: frames of the stack at hand
};

}  // namespace

OverheadTable make_overhead(const Profile& profile, const OverheadOptions& options) {
  const Keys keys(options);
  OwnerNumbers owners(profile, options, keys);
  RowNumbers numbers(profile);
  Accumulator all(profile, options, keys, owners, numbers);
  std::map<VcpuId, Accumulator> per_vcpu;
  for (const SampleGroup& group : profile.samples) {
    all.add(group);
    if (options.per_vcpu)
      per_vcpu.try_emplace(profile.owner_of(group).vcpu, profile, options, keys, owners, numbers)
          .first->second.add(group);
  }
  OverheadTable table;
  table.all = std::move(all).finish();
  for (auto& [vcpu, accumulator] : per_vcpu) {
    table.per_vcpu.push_back(std::move(accumulator).finish());
    table.per_vcpu.back().vcpu = vcpu;
  }
  return table;
}

}  // namespace ringside::views
