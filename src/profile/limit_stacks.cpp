#include "profile/limit_stacks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "profile/adopt_stacks.h"
#include "profile/stack_forest.h"

namespace ringside::profile {

void limit_stacks(Profile& profile, std::size_t most) {
  StackForest forest;
  std::vector<FrameId> frames;  // leaf first
  for (SampleGroup& group : profile.samples) {
    frames.clear();
    std::size_t kept = 0;
    for (NodeId id = group.stack; id != kNoNode && kept < most; id = profile.stacks[id].parent) {
      frames.push_back(profile.stacks[id].frame);
      if (!profile.frames[frames.back()].inlined) ++kept;
    }
    group.stack = kNoNode;
    group.user_part = kNoNode;
    std::for_each(frames.rbegin(), frames.rend(),
                  [&](FrameId frame) { group.stack = forest.append(group.stack, frame); });
  }
  profile.all_frames = 0;
  profile.unknown_frames = 0;
  adopt_stacks(std::move(forest), profile);
}

}  // namespace ringside::profile
