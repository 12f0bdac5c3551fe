#pragma once

#include <array>
#include <string>
#include <vector>

#include "profile/detailed_profile.h"

namespace ringside::exporters {

// A text for each frame of a recording, made once. For formats that write all frames of each
// sample.
class FrameTexts {
 public:
  // `make()` returns the text of that frame, which is never empty.
  template <class Make>
  const std::string& of(const profile::StackEntry& entry, const Make& make) {
    std::vector<std::string>& texts = texts_[entry.knows_mappings ? 1 : 0];
    if (entry.frame >= texts.size()) texts.resize(entry.frame + 1);
    std::string& text = texts[entry.frame];
    if (text.empty()) text = make();
    return text;
  }

 private:
  std::array<std::vector<std::string>, 2> texts_;  // by knows_mappings; by recorded frame
};

}  // namespace ringside::exporters
