#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "profile/profile.h"

namespace ringside::profile {

// Gives a profile its functions and frames, each once.
class FrameInterner {
 public:
  // `profile` must outlive the interner, and gets functions and frames from it alone.
  explicit FrameInterner(Profile& profile) : profile_(profile) {}

  // `name` as sanitize.h makes it.
  FrameId intern(std::string_view name, StringId image, Kind kind, bool inlined) {
    const StringId name_id = profile_.strings.intern(name);
    const auto [function, new_function] = functions_.try_emplace(
        std::uint64_t{image} << 32 | name_id, static_cast<FunctionId>(profile_.functions.size()));
    if (new_function) profile_.functions.push_back({name_id, image, 0, 0, 0});
    const auto [frame, new_frame] =
        frames_.try_emplace(std::uint64_t{function->second} << 8 |
                                static_cast<std::uint64_t>(kind) << 1 | std::uint64_t{inlined},
                            static_cast<FrameId>(profile_.frames.size()));
    if (new_frame) profile_.frames.push_back({function->second, kind, inlined});
    return frame->second;
  }
  // The same frame at a place in the source; not 0.
  FrameId at_line(FrameId frame, StringId line) {
    const auto [found, added] = at_lines_.try_emplace(std::uint64_t{line} << 32 | frame,
                                                      static_cast<FrameId>(profile_.frames.size()));
    if (added) {
      profile_.frames.push_back(profile_.frames[frame]);
      profile_.frames.back().line = line;
    }
    return found->second;
  }

 private:
  Profile& profile_;
  std::unordered_map<std::uint64_t, FunctionId> functions_;  // by image and name
  std::unordered_map<std::uint64_t, FrameId> frames_;        // by function, kind and inlining
  std::unordered_map<std::uint64_t, FrameId> at_lines_;      // by line and frame
};

}  // namespace ringside::profile
