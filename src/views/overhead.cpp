#include "views/overhead.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ringside::views {
namespace {

using profile::FunctionId;
using profile::Kind;
using profile::NodeId;
using profile::Profile;
using profile::SampleGroup;

// The fields of a row that belong to the sample, and not to a frame of its stack.
using Owner =
    std::tuple<profile::StringId, std::optional<std::uint32_t>, std::optional<std::uint32_t>,
               std::optional<VcpuId>, std::optional<FunctionId>, profile::StringId>;

// Sort key of rows of equal weight: function, image, comm, pid, tid, vCPU, parent, cgroup.
using Names = std::tuple<std::string_view, std::string_view, std::string_view,
                         std::optional<std::uint32_t>, std::optional<std::uint32_t>,
                         std::optional<VcpuId>, std::string_view, std::string_view>;

// Sums up one section. Rows are found by owner and code; `met_` shows whether one was met in the
// stack at hand before.
class Accumulator {
 public:
  Accumulator(const Profile& profile, const OverheadOptions& options)
      : profile_(profile), options_(options) {
    for (const SortKey key : options.keys) has_key_[static_cast<std::size_t>(key)] = true;
  }

  void add(const SampleGroup& group) {
    switch (group.disposition) {
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
  [[nodiscard]] bool has(SortKey key) const { return has_key_[static_cast<std::size_t>(key)]; }

  [[nodiscard]] std::optional<FunctionId> parent_of(NodeId leaf) const {
    for (NodeId id = leaf; id != profile::kNoNode; id = profile_.stacks[id].parent) {
      const FunctionId function = profile_.frames[profile_.stacks[id].frame].function;
      if (function < options_.is_parent.size() && options_.is_parent[function]) return function;
    }
    return std::nullopt;
  }

  // The number of the sample's owner, as far as the keys distinguish owners.
  [[nodiscard]] std::uint32_t owner_of(const SampleGroup& group) {
    Owner owner;
    if (has(SortKey::kComm)) std::get<0>(owner) = group.comm;
    if (has(SortKey::kPid)) std::get<1>(owner) = group.pid;
    if (has(SortKey::kTid)) std::get<2>(owner) = group.tid;
    if (has(SortKey::kVcpu)) std::get<3>(owner) = group.vcpu;
    if (has(SortKey::kParent)) std::get<4>(owner) = parent_of(group.stack);
    if (has(SortKey::kCgroup)) std::get<5>(owner) = group.cgroup;
    return owners_.try_emplace(owner, static_cast<std::uint32_t>(owners_.size())).first->second;
  }

  // The number of a frame's code, as far as the keys distinguish code.
  [[nodiscard]] std::uint32_t code_of(const profile::Frame& frame) const {
    if (has(SortKey::kSymbol)) return frame.function;
    return has(SortKey::kDso) ? profile_.functions[frame.function].image : 0;
  }

  std::size_t row_of(std::uint32_t owner, const SampleGroup& group, const profile::Frame& frame) {
    const std::uint64_t key = std::uint64_t{owner} << 32 | code_of(frame);
    const auto [it, added] = index_.try_emplace(key, rows_.size());
    if (!added) return it->second;
    OverheadRow& row = rows_.emplace_back();
    if (has(SortKey::kComm)) row.comm = group.comm;
    if (has(SortKey::kCgroup)) row.cgroup = group.cgroup;
    if (has(SortKey::kPid)) row.pid = group.pid;
    if (has(SortKey::kTid)) row.tid = group.tid;
    if (has(SortKey::kVcpu)) row.vcpu = group.vcpu;
    if (has(SortKey::kParent)) row.parent = parent_of(group.stack);
    if (has(SortKey::kSymbol)) row.function = frame.function;
    if (has(SortKey::kSymbol) || has(SortKey::kDso))
      row.image = profile_.functions[frame.function].image;
    row.inlined = true;
    row.kind = Kind::kInterrupt;
    met_.push_back(0);
    return it->second;
  }

  void add_stack(const SampleGroup& group) {
    ++stack_number_;
    const std::uint32_t owner = owner_of(group);
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
  std::array<bool, static_cast<std::size_t>(SortKey::kParent) + 1> has_key_{};
  OverheadSection section_;
  std::map<Owner, std::uint32_t> owners_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // into rows_
  std::vector<OverheadRow> rows_;
  std::vector<std::uint64_t> met_;  // by row: the last stack it stood in
  std::uint64_t stack_number_ = 0;
};

}  // namespace

OverheadTable make_overhead(const Profile& profile, const OverheadOptions& options) {
  Accumulator all(profile, options);
  std::map<VcpuId, Accumulator> per_vcpu;
  for (const SampleGroup& group : profile.samples) {
    all.add(group);
    if (options.per_vcpu)
      per_vcpu.try_emplace(group.vcpu, profile, options).first->second.add(group);
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
