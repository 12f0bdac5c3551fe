#include "views/overhead.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/pair_table.h"

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

// Sums up one section. Rows are found by owner and code; `met_` shows whether one was met in the
// stack at hand before.
class Accumulator {
 public:
  Accumulator(const Profile& profile, const OverheadOptions& options, const Keys& keys,
              OwnerNumbers& owners)
      : profile_(profile), options_(options), keys_(keys), owners_(owners) {}

  void add(const SampleGroup& group) {
    switch (profile_.owner_of(group).disposition) {
      case wire::Disposition::kSampled:
        section_.sampled += group.weight;
        section_.samples += group.samples;
        add_stack(group);
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
    std::erase_if(rows_, [](const OverheadRow& row) { return row.total == 0; });
    section_.rows = std::move(rows_);
    const auto weight = [&](const OverheadRow& row) {
      return options_.sort == OverheadOptions::Sort::kSelf ? std::pair(row.self, row.total)
                                                           : std::pair(row.total, row.self);
    };
    std::sort(section_.rows.begin(), section_.rows.end(),
              [&](const OverheadRow& a, const OverheadRow& b) {
                if (weight(a) != weight(b)) return weight(a) > weight(b);
                return names(a) < names(b);
              });
    return std::move(section_);
  }

 private:
  [[nodiscard]] bool has(SortKey key) const { return keys_.has(key); }

  // The number of a frame's code, as far as the keys distinguish code.
  [[nodiscard]] std::uint32_t code_of(const profile::Frame& frame) const {
    if (has(SortKey::kSymbol)) return frame.function;
    return has(SortKey::kDso) ? profile_.functions[frame.function].image : 0;
  }

  std::size_t row_of(std::uint32_t owner, const SampleGroup& group, const profile::Frame& frame) {
    const std::uint32_t index = index_.intern(owner, code_of(frame));
    if (index < rows_.size()) return index;
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
    met_.push_back(0);
    return index;
  }

  void add_stack(const SampleGroup& group) {
    ++stack_number_;
    const std::uint32_t owner = owners_.of(group);
    bool is_leaf = true;
    for (NodeId id = group.stack; id != profile::kNoNode; id = profile_.stacks[id].parent) {
      const profile::Frame& frame = profile_.frames[profile_.stacks[id].frame];
      if (frame.inlined && !options_.inlined_rows) continue;
      const std::size_t index = row_of(owner, group, frame);
      OverheadRow& row = rows_[index];
      if (row.kind == Kind::kInterrupt) row.kind = frame.kind;
      row.inlined = frame.inlined && row.inlined;
      if (std::exchange(is_leaf, false)) {
        row.self += group.weight;
        row.self_samples += group.samples;
      }
      if (met_[index] == stack_number_) continue;
      met_[index] = stack_number_;
      row.total += group.weight;
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
  OverheadSection section_;
  PairTable index_;  // of a row: its owner and its code
  std::vector<OverheadRow> rows_;
  std::vector<std::uint64_t> met_;  // by row: the last stack it stood in
  std::uint64_t stack_number_ = 0;
};

}  // namespace

OverheadTable make_overhead(const Profile& profile, const OverheadOptions& options) {
  const Keys keys(options);
  OwnerNumbers owners(profile, options, keys);
  Accumulator all(profile, options, keys, owners);
  std::map<VcpuId, Accumulator> per_vcpu;
  for (const SampleGroup& group : profile.samples) {
    all.add(group);
    if (options.per_vcpu)
      per_vcpu.try_emplace(profile.owner_of(group).vcpu, profile, options, keys, owners)
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
