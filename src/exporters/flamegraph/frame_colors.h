#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exporters/flamegraph/flame_picture.h"
#include "exporters/flamegraph/flamegraph_theme.h"
#include "profile/profile.h"
#include "views/call_tree.h"

namespace ringside::exporters {

// The property of a frame that its colour shows.
enum class FrameColoring : std::uint8_t {
  kAuto,    // kMemory where weights are bytes, else kKind
  kKind,    // kernel, user, interrupt …
  kMemory,  // the same, but green and aqua, as flamegraph.pl has pictures of allocations
  kModule,  // the images with most weight of their own; a grey for all others
};

// The colours of one picture's frames.
class FrameColors final : public FrameStyle {
 public:
  // `profile` and `tree` must outlive it.
  FrameColors(const profile::Profile& profile, const views::CallTree& tree, FrameColoring coloring);

  [[nodiscard]] std::string class_of(const views::CallTree::Node& node) const override;
  [[nodiscard]] const std::vector<Entry>& legend() const override { return legend_; }
  [[nodiscard]] std::string rules(bool dark_page) const override;

 private:
  void find_kinds();
  void find_modules();
  [[nodiscard]] std::vector<profile::StringId> heaviest_modules() const;
  [[nodiscard]] std::size_t module_of(const views::CallTree::Node& node) const;

  const profile::Profile& profile_;
  const views::CallTree& tree_;
  FrameColoring coloring_;
  std::map<profile::StringId, std::size_t> modules_;  // ranks of those with a colour of their own
  std::vector<Entry> legend_;
  std::vector<std::pair<std::string, ThemedColor>> classes_;  // of the style sheet
};

// A letter for the kind of a node's code, and a number for its name.
[[nodiscard]] std::string kind_class(const views::CallTree::Node& node);

// "kernel", "user": the words of the legend and of tooltips.
[[nodiscard]] const char* word_for(profile::Kind kind);

}  // namespace ringside::exporters
