#include "exporters/flamegraph/frame_colors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "exporters/flamegraph/frame_label.h"

namespace ringside::exporters {
namespace {

using profile::StringId;
using views::CallTree;

constexpr std::size_t kShades = 5;
constexpr std::size_t kLongestModule = 16;  // characters of a module's name in the legend

// Okabe and Ito's idea: orange, blue, purple, green and grey differ in lightness too, so that they
// stay apart for colour-blind eyes.
enum Hue : std::size_t { kOrange, kBlue, kPurple, kTeal, kYellow, kRed, kGrey, kGreen, kAqua };

constexpr std::array<std::array<ThemedColor, kShades>, 9> kHues = {{
    {{{"#ffb454", "#a9611f"},
      {"#ffa53b", "#9b5617"},
      {"#ffc370", "#b66c29"},
      {"#f99a2b", "#8e4d12"},
      {"#ffcf85", "#bf7733"}}},
    {{{"#7fb8f0", "#38709f"},
      {"#94c5f5", "#427bab"},
      {"#69a9e6", "#2f6492"},
      {"#a9d1f7", "#4c86b8"},
      {"#5b9edf", "#285a86"}}},
    {{{"#c9a0e8", "#84589f"},
      {"#b98ade", "#784e93"},
      {"#d4b3ee", "#9064ab"},
      {"#ac7bd6", "#6c4487"},
      {"#dfc5f3", "#9c70b7"}}},
    {{{"#5fc9b0", "#25806c"},
      {"#78d3bd", "#2d8b76"},
      {"#4bbfa4", "#1d735f"},
      {"#90dcca", "#359681"},
      {"#6fcdb7", "#287f6b"}}},
    {{{"#e3d26f", "#857722"},
      {"#eadb83", "#7a6d1c"},
      {"#d9c75c", "#90812b"},
      {"#f0e39b", "#6f6216"},
      {"#d0bd4c", "#9a8b35"}}},
    {{{"#f4a59b", "#a34a40"},
      {"#f0958a", "#964138"},
      {"#f7b5ac", "#ae5449"},
      {"#ea867a", "#893930"},
      {"#fac6be", "#b85e53"}}},
    {{{"#c3c8d1", "#59606d"},
      {"#b5bbc6", "#636a78"},
      {"#cfd3db", "#505764"},
      {"#aab1bd", "#6d7482"},
      {"#d8dbe2", "#494f5b"}}},
    {{{"#8fd07a", "#3f7d2f"},
      {"#a0d98d", "#488838"},
      {"#7fc668", "#367026"},
      {"#b3e2a3", "#529342"},
      {"#72bb5b", "#2f6620"}}},
    {{{"#7fd0dc", "#1f7382"},
      {"#93d9e3", "#277e8d"},
      {"#6bc5d3", "#186674"},
      {"#a9e2ea", "#318999"},
      {"#5bb9c8", "#125a67"}}},
}};
constexpr ThemedColor kNoCode = {"#e4e7ee", "#303642"};

struct Family {
  char letter;
  const char* word;
  Hue by_kind;
  Hue in_memory;
};
constexpr std::array<Family, profile::kKindCount> kFamilies = {
    {{'k', "kernel", kOrange, kGreen},
     {'u', "user", kBlue, kAqua},
     {'i', "interrupt", kPurple, kYellow},
     {'f', "firmware", kTeal, kTeal},
     {'g', "guest", kYellow, kBlue},
     {'x', "unknown", kGrey, kGrey},
     {'c', "code", kRed, kGreen}}};

const Family& family_of(profile::Kind kind) { return kFamilies[static_cast<std::size_t>(kind)]; }

std::size_t shade_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return (hash >> 7) % kShades;
}

std::string module_class(std::size_t module) { return fmt::format("m{}", module); }

}  // namespace

const char* word_for(profile::Kind kind) { return family_of(kind).word; }

FrameColors::FrameColors(const profile::Profile& profile, const CallTree& tree,
                         FrameColoring coloring)
    : profile_(profile), tree_(tree), coloring_(coloring) {
  if (coloring_ == FrameColoring::kAuto)
    coloring_ = profile.unit == recording::WeightUnit::kBytes ? FrameColoring::kMemory
                                                              : FrameColoring::kKind;
  if (coloring_ == FrameColoring::kModule)
    find_modules();
  else
    find_kinds();
}

void FrameColors::find_kinds() {
  std::array<bool, profile::kKindCount> present{};
  for (const CallTree::Node& node : tree_.nodes)
    if (node.kind) present[static_cast<std::size_t>(*node.kind)] = true;
  for (std::size_t kind = 0; kind < kFamilies.size(); ++kind) {
    if (!present[kind]) continue;
    const Family& family = kFamilies[kind];
    hues_[{family.letter}] =
        coloring_ == FrameColoring::kMemory ? family.in_memory : family.by_kind;
    legend_.push_back({fmt::format("{}0", family.letter), family.word});
  }
}

void FrameColors::find_modules() {
  std::map<StringId, std::uint64_t> weights;
  bool has_others = false;
  for (const CallTree::Node& node : tree_.nodes) {
    if (!node.kind) continue;
    const bool has_module =
        node.function != nullptr && !node.several_functions && node.function->image != 0;
    if (has_module) weights[node.function->image] += profile::extent_of(node.self);
    has_others |= !has_module;
  }
  std::vector<std::pair<std::uint64_t, StringId>> order;
  for (const auto& [image, weight] : weights) order.emplace_back(weight, image);
  std::sort(order.begin(), order.end(), [this](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first > b.first;
    return profile_.strings[a.second] < profile_.strings[b.second];
  });
  has_others |= order.size() > kModules;
  order.resize(std::min(order.size(), kModules));
  static_assert(kGrey == kModules, "modules have the hues before the grey one");
  const auto add = [this](std::size_t module, std::string text) {
    hues_[module_class(module)] = module;
    legend_.push_back({module_class(module) + "0", std::move(text)});
  };
  for (const auto& [weight, image] : order) {
    const std::size_t module = modules_.size();
    modules_[image] = module;
    add(module, frame_label(profile_.strings[image], kLongestModule));
  }
  if (has_others) add(kModules, "other");
}

std::size_t FrameColors::module_of(const CallTree::Node& node) const {
  if (node.function == nullptr || node.several_functions) return kModules;
  const auto module = modules_.find(node.function->image);
  return module == modules_.end() ? kModules : module->second;
}

std::string FrameColors::class_of(const CallTree::Node& node) const {
  if (!node.kind) return "n0";
  const std::size_t shade = shade_of(node.name);
  const std::string kind = fmt::format("{}{}", family_of(*node.kind).letter, shade);
  if (coloring_ != FrameColoring::kModule) return kind;
  return fmt::format("{} {}{}", kind, module_class(module_of(node)), shade);
}

std::string FrameColors::rules(bool dark_page) const {
  std::string text = fmt::format(".n0 rect {{ fill: {}; }}\n", kNoCode.on(dark_page));
  for (const auto& [name, hue] : hues_)
    for (std::size_t shade = 0; shade < kShades; ++shade)
      text +=
          fmt::format(".{}{} rect {{ fill: {}; }}\n", name, shade, kHues[hue][shade].on(dark_page));
  return text;
}

}  // namespace ringside::exporters
