#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "profile/profile.h"
#include "views/overhead.h"
#include "views/sort_keys.h"

namespace ringside::views {

// Numbers for the code of frames, as far as sort keys distinguish code. Sections share them.
class CodeNumbers {
 public:
  CodeNumbers(const profile::Profile& profile, const SortKeys& keys);

  [[nodiscard]] std::uint32_t of(profile::FrameId frame) const {
    return has_lines_ ? of_frame_[frame] : usual(profile_.frames[frame]);
  }
  // Nothing: no frame has such code.
  [[nodiscard]] std::optional<std::uint32_t> of(const OverheadRow& row) const;
  // Above all numbers.
  [[nodiscard]] std::size_t end() const;

 private:
  // Function, image and line of the source.
  using Code = std::tuple<std::optional<profile::FunctionId>, profile::StringId, profile::StringId>;

  // Where lines do not count there is a number already.
  [[nodiscard]] std::uint32_t usual(const profile::Frame& frame) const {
    if (has_functions_) return frame.function;
    return has_images_ ? profile_.functions[frame.function].image : 0;
  }

  const profile::Profile& profile_;
  bool has_functions_;
  bool has_images_;  // or functions, which are of one
  bool has_lines_;
  std::vector<std::uint32_t> of_frame_;  // where lines count
  std::map<Code, std::uint32_t> codes_;
};

}  // namespace ringside::views
