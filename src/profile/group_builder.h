#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "profile/builder.h"
#include "profile/collector.h"
#include "profile/frame_table.h"
#include "profile/stack_placer.h"

namespace ringside::profile {

// Gives the groups of a recording their owners and stacks, and leaves out those that the filter
// does not want.
class GroupBuilder {
 public:
  // The profile gets its frames by `frames`.
  GroupBuilder(Collector& collected, FrameTable& frames, const BuildOptions& options,
               Profile& profile);
  // Fills what the profile has of groups, owners and stacks. Frees what the collector has of them.
  // To be called once.
  void build();

 private:
  void add(const CollectedGroup& collected, StackPlacer& placer);
  [[nodiscard]] Weight bounded(Weight weight);
  [[nodiscard]] Owner nobody(const Owner& interrupted);
  [[nodiscard]] OwnerId id_of(const Owner& owner);

  Collector& collected_;
  FrameTable& frames_;
  const BuildOptions& options_;
  Profile& profile_;
  std::map<Owner, OwnerId> owner_ids_;
  // The extent that the groups to come may have.
  std::uint64_t extent_left_ = std::numeric_limits<Weight>::max();
  bool said_heavy_ = false;
  std::vector<RecordedStack> stacks_;  // of the groups that were added
};

}  // namespace ringside::profile
