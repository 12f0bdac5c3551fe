#include "exporters/flamegraph/flamegraph_theme.h"

#include <string_view>

#include "exporters/flamegraph/flamegraph_assets.h"

namespace ringside::exporters {
namespace {

struct NamedColor {
  std::string_view variable;  // in flamegraph_theme.css
  ThemedColor color;
};

constexpr NamedColor kColors[] = {
    {"var(--page)", {"#fbfbfd", "#16181d"}},  {"var(--ink)", {"#1d2129", "#e7eaf0"}},
    {"var(--faint)", {"#667085", "#98a1b3"}}, {"var(--line)", {"#d5d9e2", "#343a46"}},
    {"var(--panel)", {"#ffffff", "#20242c"}}, {"var(--mark)", {"#d6008f", "#ff5cc4"}},
    {"var(--error)", {"#c4271b", "#ff8a80"}}, {"var(--frame-ink)", {"#17191f", "#ffffff"}},
};

}  // namespace

std::string page_rules(bool dark_page) {
  std::string text(kFlamegraphThemeCss);
  for (const auto& [variable, color] : kColors)
    for (std::size_t at = text.find(variable); at != std::string::npos; at = text.find(variable))
      text.replace(at, variable.size(), color.on(dark_page));
  return text;
}

}  // namespace ringside::exporters
