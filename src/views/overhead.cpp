#include "views/overhead.h"

#include <atomic>
#include <map>
#include <utility>

#include "base/run_both.h"
#include "views/code_numbers.h"
#include "views/owner_numbers.h"
#include "views/row_order.h"
#include "views/section_sum.h"
#include "views/sort_keys.h"

namespace ringside::views {
namespace {

using profile::Profile;
using profile::SampleGroup;

// The groups that one section is the sum of, in the profile's order.
struct SectionGroups {
  std::optional<VcpuId> vcpu;
  std::vector<const SampleGroup*> groups;
};

// All together first, then those of each vCPU.
std::vector<SectionGroups> section_groups(const Profile& profile, bool per_vcpu) {
  std::vector<SectionGroups> sections(1);
  sections.front().groups.reserve(profile.samples.size());
  std::map<VcpuId, std::vector<const SampleGroup*>> of_vcpu;
  for (const SampleGroup& group : profile.samples) {
    sections.front().groups.push_back(&group);
    if (per_vcpu) of_vcpu[profile.owner_of(group).vcpu].push_back(&group);
  }
  for (auto& [vcpu, groups] : of_vcpu) sections.push_back({vcpu, std::move(groups)});
  return sections;
}

// Sums up one section after the other. Each thread has its own.
class SectionMaker {
 public:
  SectionMaker(const Profile& profile, const OverheadOptions& options, const RowOrder& order)
      : profile_(profile),
        options_(options),
        order_(order),
        keys_(options.keys),
        codes_(profile, keys_),
        owners_(profile, options, keys_),
        numbers_(codes_) {}

  [[nodiscard]] OverheadSection make(const SectionGroups& of) {
    SectionSum sum(profile_, options_, keys_, codes_, owners_, numbers_);
    for (const SampleGroup* const group : of.groups) sum.add(*group);
    OverheadSection section = std::move(sum).finish(order_);
    section.vcpu = of.vcpu;
    return section;
  }

 private:
  const Profile& profile_;
  const OverheadOptions& options_;
  const RowOrder& order_;
  SortKeys keys_;
  CodeNumbers codes_;
  OwnerNumbers owners_;
  RowNumbers numbers_;
};

}  // namespace

OverheadTable make_overhead(const Profile& profile, const OverheadOptions& options) {
  const RowOrder order(profile, options.sort);
  const std::vector<SectionGroups> groups = section_groups(profile, options.per_vcpu);
  std::vector<OverheadSection> sections(groups.size());
  std::atomic<std::size_t> next = 0;
  const auto make_sections = [&] {
    std::size_t i = next++;
    if (i >= sections.size()) return;
    SectionMaker maker(profile, options, order);
    for (; i < sections.size(); i = next++) sections[i] = maker.make(groups[i]);
  };
  if (sections.size() > 1)
    run_both(make_sections, make_sections);
  else
    make_sections();
  OverheadTable table;
  table.all = std::move(sections.front());
  sections.erase(sections.begin());
  table.per_vcpu = std::move(sections);
  return table;
}

}  // namespace ringside::views
