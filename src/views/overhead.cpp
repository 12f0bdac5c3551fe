#include "views/overhead.h"

#include <map>
#include <utility>

#include "base/run_both.h"
#include "views/owner_numbers.h"
#include "views/row_order.h"
#include "views/section_sum.h"
#include "views/sort_keys.h"

namespace ringside::views {
namespace {

using profile::Profile;
using profile::SampleGroup;

// Sums up the sections of one table. Each thread has its own.
class Sections {
 public:
  Sections(const Profile& profile, const OverheadOptions& options, const RowOrder& order)
      : profile_(profile),
        options_(options),
        order_(order),
        keys_(options.keys),
        owners_(profile, options, keys_),
        numbers_(profile) {}

  [[nodiscard]] OverheadSection all() {
    SectionSum sum(profile_, options_, keys_, owners_, numbers_);
    for (const SampleGroup& group : profile_.samples) sum.add(group);
    return std::move(sum).finish(order_);
  }

  [[nodiscard]] std::vector<OverheadSection> per_vcpu() {
    std::map<VcpuId, SectionSum> sums;
    for (const SampleGroup& group : profile_.samples)
      sums.try_emplace(profile_.owner_of(group).vcpu, profile_, options_, keys_, owners_, numbers_)
          .first->second.add(group);
    std::vector<OverheadSection> sections;
    for (auto& [vcpu, sum] : sums) {
      sections.push_back(std::move(sum).finish(order_));
      sections.back().vcpu = vcpu;
    }
    return sections;
  }

 private:
  const Profile& profile_;
  const OverheadOptions& options_;
  const RowOrder& order_;
  SortKeys keys_;
  OwnerNumbers owners_;
  RowNumbers numbers_;
};

}  // namespace

OverheadTable make_overhead(const Profile& profile, const OverheadOptions& options) {
  const RowOrder order(profile, options.sort);
  OverheadTable table;
  const auto sum_all = [&] { table.all = Sections(profile, options, order).all(); };
  const auto sum_each = [&] { table.per_vcpu = Sections(profile, options, order).per_vcpu(); };
  if (options.per_vcpu)
    run_both(sum_all, sum_each);
  else
    sum_all();
  return table;
}

}  // namespace ringside::views
