#include "exporters/flamegraph/change_colors.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "exporters/flamegraph/frame_colors.h"

namespace ringside::exporters {
namespace {

constexpr ThemedColor kSame = {"#e4e7ee", "#303642"};
// From little to much.
constexpr std::array<ThemedColor, 4> kGrown = {{{"#fbd5cf", "#5a3531"},
                                                {"#f7b5ac", "#7b3a33"},
                                                {"#ef8b7d", "#a04238"},
                                                {"#e3604f", "#c44a3c"}}};
constexpr std::array<ThemedColor, 4> kShrunk = {{{"#d3e4f7", "#2c3f55"},
                                                 {"#a9d1f7", "#2c4f73"},
                                                 {"#7fb8f0", "#2f6492"},
                                                 {"#4f97dd", "#3a7fbb"}}};
// The least part of the greatest change that has each colour.
constexpr std::array<double, 4> kParts = {0.02, 0.1, 0.25, 0.5};

// From 1 on; 0: the share is as it was.
std::size_t level_of(double change, double greatest) {
  std::size_t level = 0;
  while (level < kParts.size() && std::abs(change) > kParts[level] * greatest) ++level;
  return level;
}

}  // namespace

ChangeColors::ChangeColors(const views::CallTreeChange& change)
    : change_(change), legend_{{"down4", "shrank"}, {"same", "same"}, {"up4", "grew"}} {}

std::string ChangeColors::class_of(const views::CallTree::Node& node) const {
  const auto index = static_cast<std::size_t>(&node - change_.tree.nodes.data());
  const double change = change_.shares[index].change();
  // Where no change is beyond chance, none is strong.
  const std::size_t level = level_of(change, std::max(change_.greatest, change_.noise));
  const std::string kind = kind_class(node);
  if (level == 0) return kind + " same";
  return fmt::format("{} {}{}", kind, change > 0 ? "up" : "down", level);
}

std::string ChangeColors::rules(bool dark_page) const {
  std::string text = fmt::format(".same {{ fill: {}; }}\n", kSame.on(dark_page));
  for (std::size_t level = 0; level < kParts.size(); ++level)
    text += fmt::format(".up{0} {{ fill: {1}; }}\n.down{0} {{ fill: {2}; }}\n", level + 1,
                        kGrown[level].on(dark_page), kShrunk[level].on(dark_page));
  return text;
}

}  // namespace ringside::exporters
