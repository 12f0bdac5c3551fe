#pragma once

#include <cstdint>
#include <string>

namespace ringside::exporters {

// The page behind a picture: a light page, a dark one, or the one that the viewer prefers.
enum class Theme : std::uint8_t { kAuto, kLight, kDark };

// A colour on a light page and on a dark one: "#rrggbb".
struct ThemedColor {
  const char* light;
  const char* dark;
  [[nodiscard]] const char* on(bool dark_page) const { return dark_page ? dark : light; }
};

// The style sheet of all colours but those of frames. Colours are written out, without variables:
// programs that draw SVG files into pictures have none.
[[nodiscard]] std::string page_rules(bool dark_page);

// `rules(dark_page)` for one page or for both, as `theme` asks for.
template <class Rules>
[[nodiscard]] std::string themed(Theme theme, const Rules& rules) {
  std::string text = rules(theme == Theme::kDark);
  if (theme == Theme::kAuto)
    text += "@media (prefers-color-scheme: dark) {\n" + rules(true) + "}\n";
  return text;
}

}  // namespace ringside::exporters
