#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "exporters/flamegraph/flamegraph_theme.h"
#include "profile/profile.h"
#include "views/call_tree.h"

namespace ringside::exporters {

// The property of a frame that its colour shows.
enum class FrameColoring : std::uint8_t {
  kAuto,    // kMemory where weights are bytes, else kKind
  kKind,    // kernel, user, interrupt …
  kMemory,  // the same in green, as flamegraph.pl has pictures of allocations
  kModule,  // the images with most weight of their own; a grey for all others
};

// The colours of one picture's frames. A shade is chosen by a frame's name.
class FrameColors {
 public:
  // `profile` and `tree` must outlive it.
  FrameColors(const profile::Profile& profile, const views::CallTree& tree, FrameColoring coloring);

  // Classes of the style sheet. The first one is a letter for the kind and a number, whatever the
  // colouring: flamegraph.js finds frames by it.
  [[nodiscard]] std::string class_of(const views::CallTree::Node& node) const;

  struct Entry {
    std::string css_class;
    std::string text;
  };
  [[nodiscard]] const std::vector<Entry>& legend() const { return legend_; }

  // The style sheet of the colours that the tree has.
  [[nodiscard]] std::string rules(bool dark_page) const;

 private:
  static constexpr std::size_t kModules = 6;  // with a colour of their own

  void find_kinds();
  void find_modules();
  [[nodiscard]] std::size_t module_of(const views::CallTree::Node& node) const;

  const profile::Profile& profile_;
  const views::CallTree& tree_;
  FrameColoring coloring_;
  std::map<profile::StringId, std::size_t> modules_;  // their places in the legend's order
  std::map<std::string, std::size_t> hues_;  // by the part of a class before the shade's number
  std::vector<Entry> legend_;
};

// "kernel", "user": the words of the legend and of tooltips.
[[nodiscard]] const char* word_for(profile::Kind kind);

}  // namespace ringside::exporters
