#include "profile/limit_stacks.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/adopt_stacks.h"
#include "profile/stack_forest.h"

namespace ringside::profile {
namespace {

using Frames = std::vector<FrameId>;  // root first

class Limiter {
 public:
  Limiter(Profile& profile, std::size_t most) : profile_(profile), most_(most) {}

  void keep_innermost(Frames& frames) const {
    std::size_t kept = 0;
    const auto first = std::find_if(frames.rbegin(), frames.rend(),
                                    [&](FrameId frame) { return is_whole(frame, kept); });
    if (first != frames.rend()) frames.erase(frames.begin(), first.base() - 1);
  }

  void keep_outermost(Frames& frames) {
    std::size_t kept = 0;
    const auto last = std::find_if(frames.begin(), frames.end(),
                                   [&](FrameId frame) { return is_whole(frame, kept); });
    const auto behind =
        last == frames.end() ? last : std::find_if(last + 1, frames.end(), [&](FrameId frame) {
          return !profile_.frames[frame].inlined;
        });
    if (behind == frames.end()) return;
    const auto leaf = std::find_if(frames.rbegin(), frames.rend(),
                                   [&](FrameId frame) { return !profile_.frames[frame].inlined; })
                          .base() -
                      1;
    std::for_each(leaf, frames.end(), [&](FrameId& frame) { frame = beyond(frame); });
    frames.erase(behind, leaf);
  }

 private:
  // Whether the limit is reached with that frame.
  [[nodiscard]] bool is_whole(FrameId frame, std::size_t& kept) const {
    return !profile_.frames[frame].inlined && ++kept == most_;
  }

  // The same frame, beyond the limit.
  FrameId beyond(FrameId frame) {
    const auto [found, added] =
        beyond_.try_emplace(frame, static_cast<FrameId>(profile_.frames.size()));
    if (added) {
      profile_.frames.push_back(profile_.frames[frame]);
      profile_.frames.back().is_beyond = true;
    }
    return found->second;
  }

  Profile& profile_;
  std::size_t most_;
  std::unordered_map<FrameId, FrameId> beyond_;
};

}  // namespace

void limit_stacks(Profile& profile, std::size_t most, KeptFrames kept) {
  StackForest forest;
  Limiter limiter(profile, most);
  for (SampleGroup& group : profile.samples) {
    Frames frames = profile.stacks.frames_of(group.stack);
    if (kept == KeptFrames::kInnermost)
      limiter.keep_innermost(frames);
    else
      limiter.keep_outermost(frames);
    group.stack = kNoNode;
    group.user_part = kNoNode;
    for (const FrameId frame : frames) group.stack = forest.append(group.stack, frame);
  }
  profile.all_frames = 0;
  profile.unknown_frames = 0;
  adopt_stacks(std::move(forest), profile);
}

}  // namespace ringside::profile
