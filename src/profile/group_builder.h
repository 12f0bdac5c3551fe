#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "profile/builder.h"
#include "profile/collector.h"
#include "profile/frame_table.h"
#include "profile/owner_chooser.h"
#include "profile/stack_placer.h"

namespace ringside::profile {

// Gives the groups of a recording their owners and stacks, and leaves out those that the filter
// does not want.
class GroupBuilder {
 public:
  // The profile gets its frames by `frames`, and of all stacks together about `most_nodes`.
  GroupBuilder(Collector& collected, FrameTable& frames, const BuildOptions& options,
               std::uint64_t most_nodes, Profile& profile);
  // Fills what the profile has of groups, owners and stacks. Frees what the collector has of them.
  // To be called once.
  void build();
  // How often kernel code ran at each recorded frame, in the samples that are shown.
  [[nodiscard]] const std::map<std::uint32_t, std::uint64_t>& kernel_leaves() const {
    return kernel_leaves_;
  }

 private:
  void add(const CollectedGroup& collected, StackPlacer& placer);
  void count_leaf(const CollectedGroup& collected);
  [[nodiscard]] Weight bounded(Weight weight);

  Collector& collected_;
  FrameTable& frames_;
  const BuildOptions& options_;
  std::uint64_t most_nodes_;
  Profile& profile_;
  OwnerChooser owners_;
  // The extent that the groups to come may have.
  std::uint64_t extent_left_ = std::numeric_limits<Weight>::max();
  bool said_heavy_ = false;
  std::map<std::uint32_t, std::uint64_t> kernel_leaves_;
  std::vector<RecordedStack> stacks_;  // of the groups that were added
};

}  // namespace ringside::profile
