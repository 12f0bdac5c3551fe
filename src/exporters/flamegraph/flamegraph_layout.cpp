#include "exporters/flamegraph/flamegraph_layout.h"

#include <fmt/core.h>

namespace ringside::exporters {

std::string data_attributes(unsigned width, unsigned depth, bool roots_at_top) {
  using L = FlamegraphLayout;
  return fmt::format(
      R"(data-width="{}" data-narrowest-picture="{}" data-margin="{}" data-gap="{}" )"
      R"(data-narrowest-frame="{}" data-narrowest-element="{}" data-inset="{}" data-baseline="{}" data-character="{}" )"
      R"(data-frames-top="{}" data-frame-height="{}" data-frame-gap="{}" data-thin-gap="{}" )"
      R"(data-depth="{}" data-roots="{}")",
      width, L::kNarrowestPicture, L::kMargin, L::kGap, L::kNarrowestShown, L::kNarrowestElement,
      L::kInset, L::kBaseline, L::kCharacterWidth, L::kFramesTop, L::kFrameHeight, L::kFrameGap,
      L::kThinGap, depth, roots_at_top ? "top" : "bottom");
}

}  // namespace ringside::exporters
