#include "views/overhead.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace ringside::views {
namespace {

using profile::FunctionId;
using profile::Kind;
using profile::NodeId;
using profile::Profile;
using profile::SampleGroup;

// Sums up one section. Rows are found by function; `visit` tells whether a function was met in the
// stack at hand before.
class Accumulator {
 public:
  explicit Accumulator(const Profile& profile)
      : profile_(profile), rows_(profile.functions.size()), met_(profile.functions.size(), 0) {}

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

  OverheadSection finish(OverheadOptions::Sort sort) && {
    for (OverheadRow& row : rows_)
      if (row.total > 0) section_.rows.push_back(row);
    const auto weight = [sort](const OverheadRow& row) {
      return sort == OverheadOptions::Sort::kSelf ? std::pair(row.self, row.total)
                                                  : std::pair(row.total, row.self);
    };
    std::sort(section_.rows.begin(), section_.rows.end(),
              [&](const OverheadRow& a, const OverheadRow& b) {
                if (weight(a) != weight(b)) return weight(a) > weight(b);
                return name(a.function) < name(b.function);
              });
    return std::move(section_);
  }

 private:
  void add_stack(const SampleGroup& group) {
    ++stack_number_;
    for (NodeId id = group.stack; id != profile::kNoNode; id = profile_.stacks[id].parent) {
      const profile::Frame& frame = profile_.frames[profile_.stacks[id].frame];
      OverheadRow& row = rows_[frame.function];
      if (row.total == 0 || row.kind == Kind::kInterrupt) row.kind = frame.kind;
      row.inlined = frame.inlined && (row.total == 0 || row.inlined);
      row.function = frame.function;
      if (id == group.stack) {
        row.self += group.weight;
        row.self_samples += group.samples;
      }
      if (met_[frame.function] == stack_number_) continue;
      met_[frame.function] = stack_number_;
      row.total += group.weight;
    }
  }

  [[nodiscard]] std::pair<std::string_view, std::string_view> name(FunctionId id) const {
    const profile::Function& function = profile_.functions[id];
    return {profile_.strings[function.name], profile_.strings[function.image]};
  }

  const Profile& profile_;
  OverheadSection section_;
  std::vector<OverheadRow> rows_;   // by FunctionId
  std::vector<std::uint64_t> met_;  // by FunctionId: the last stack it stood in
  std::uint64_t stack_number_ = 0;
};

}  // namespace

OverheadTable make_overhead(const Profile& profile, const OverheadOptions& options) {
  Accumulator all(profile);
  std::map<VcpuId, Accumulator> per_vcpu;
  for (const SampleGroup& group : profile.samples) {
    all.add(group);
    if (options.per_vcpu) per_vcpu.try_emplace(group.vcpu, profile).first->second.add(group);
  }
  OverheadTable table;
  table.all = std::move(all).finish(options.sort);
  for (auto& [vcpu, accumulator] : per_vcpu) {
    table.per_vcpu.push_back(std::move(accumulator).finish(options.sort));
    table.per_vcpu.back().vcpu = vcpu;
  }
  return table;
}

}  // namespace ringside::views
