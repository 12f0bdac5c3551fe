#include "exporters/flamegraph/frame_colors.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "views/owner.h"

namespace ringside::exporters {
namespace {

using profile::StringId;
using views::CallTree;

constexpr std::size_t kShades = 5;

// A hue has five shades, so that frames beside each other stay apart.
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
constexpr const char* kNoCodeClass = "n0";  // flamegraph_theme.css has it, too
constexpr ThemedColor kNoCode = {"#e4e7ee", "#303642"};

// By rank, and one for all others. Each two are at least 22 apart (CIE76), for eyes without red or
// without green receptors as well; tests/viewers/flamegraph_test.py measures it.
constexpr std::array<ThemedColor, 7> kModuleColors = {{{"#ffb454", "#a9611f"},
                                                       {"#8f98cc", "#122ab2"},
                                                       {"#b2ffc2", "#549969"},
                                                       {"#c466ff", "#491a66"},
                                                       {"#b8a96e", "#4c4113"},
                                                       {"#cc7a87", "#4c2a2f"},
                                                       {"#c3c8d1", "#59606d"}}};
constexpr std::size_t kOthers = kModuleColors.size() - 1;

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
     {'f', "firmware", kTeal, kPurple},
     {'g', "guest", kYellow, kBlue},
     {'c', "code", kRed, kTeal},
     {'x', "unknown", kGrey, kGrey}}};

const Family& family_of(profile::Kind kind) { return kFamilies[static_cast<std::size_t>(kind)]; }

std::size_t shade_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return (hash >> 7) % kShades;
}

std::string module_class(std::size_t module) { return fmt::format("m{}", module); }

}  // namespace

const char* word_for(profile::Kind kind) { return family_of(kind).word; }

std::string kind_class(const CallTree::Node& node) {
  if (!node.kind) return kNoCodeClass;
  return fmt::format("{}{}", family_of(*node.kind).letter, shade_of(node.name));
}

FrameColors::FrameColors(const profile::Profile& profile, const CallTree& tree,
                         FrameColoring coloring)
    : profile_(profile), tree_(tree), coloring_(coloring), classes_{{kNoCodeClass, kNoCode}} {
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
    legend_.push_back({fmt::format("{}0", family.letter), family.word});
    const Hue hue = coloring_ == FrameColoring::kMemory ? family.in_memory : family.by_kind;
    for (std::size_t shade = 0; shade < kShades; ++shade)
      classes_.emplace_back(fmt::format("{}{}", family.letter, shade), kHues[hue][shade]);
  }
}

// As `report --sort dso` sums them up, whatever the tree shows of them.
std::vector<StringId> FrameColors::heaviest_modules() const {
  std::map<StringId, std::uint64_t> weights;
  for (const profile::SampleGroup& group : profile_.samples)
    if (profile_.is_sampled(group))
      weights[root_of(profile_, group, views::RootFrame::kModule).image] +=
          profile::extent_of(group.weight);
  weights.erase(0);
  std::vector<StringId> order;
  for (const auto& [image, weight] : weights) order.push_back(image);
  std::sort(order.begin(), order.end(), [&](StringId a, StringId b) {
    if (weights[a] != weights[b]) return weights[a] > weights[b];
    return profile_.strings[a] < profile_.strings[b];
  });
  order.resize(std::min(order.size(), kOthers));
  return order;
}

void FrameColors::find_modules() {
  for (const StringId image : heaviest_modules()) modules_.emplace(image, modules_.size());
  std::array<bool, kModuleColors.size()> present{};
  for (const CallTree::Node& node : tree_.nodes)
    if (node.kind) present[module_of(node)] = true;
  std::array<std::string, kModuleColors.size()> names;
  for (const auto& [image, module] : modules_) names[module] = profile_.strings[image];
  names[kOthers] = "other images";
  for (std::size_t module = 0; module < names.size(); ++module) {
    if (!present[module]) continue;
    legend_.push_back({module_class(module), names[module]});
    classes_.emplace_back(module_class(module), kModuleColors[module]);
  }
}

std::size_t FrameColors::module_of(const CallTree::Node& node) const {
  if (node.function == nullptr || node.several_functions) return kOthers;
  const auto module = modules_.find(node.function->image);
  return module == modules_.end() ? kOthers : module->second;
}

std::string FrameColors::class_of(const CallTree::Node& node) const {
  const std::string kind = kind_class(node);
  if (coloring_ != FrameColoring::kModule || !node.kind) return kind;
  return kind + " " + module_class(module_of(node));
}

std::string FrameColors::rules(bool dark_page) const {
  std::string text;
  for (const auto& [name, color] : classes_)
    text += fmt::format(".{} {{ fill: {}; }}\n", name, color.on(dark_page));
  return text;
}

}  // namespace ringside::exporters
