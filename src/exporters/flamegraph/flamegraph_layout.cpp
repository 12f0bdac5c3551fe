#include "exporters/flamegraph/flamegraph_layout.h"

#include <fmt/core.h>

namespace ringside::exporters {

std::string data_attributes(unsigned width, bool roots_at_top) {
  using L = FlamegraphLayout;
  return fmt::format(
      R"(data-width="{}" data-narrowest-picture="{}" data-margin="{}" data-gap="{}" )"
      R"(data-narrowest-frame="{}" data-inset="{}" data-baseline="{}" data-character="{}" )"
      R"(data-shortest="{}" data-roots="{}")",
      width, L::kNarrowestPicture, L::kMargin, L::kGap, L::kNarrowestFrame, L::kInset, L::kBaseline,
      L::kCharacterWidth, L::kShortestText, roots_at_top ? "top" : "bottom");
}

}  // namespace ringside::exporters
