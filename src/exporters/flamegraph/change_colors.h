#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exporters/flamegraph/flame_picture.h"
#include "views/comparison/call_tree_change.h"

namespace ringside::exporters {

// Colours of frames by how much their share changed: red where it grew, blue where it shrank, the
// stronger the more of the greatest change it is.
class ChangeColors final : public FrameStyle {
 public:
  // `change` must outlive it.
  explicit ChangeColors(const views::CallTreeChange& change);

  [[nodiscard]] std::string class_of(const views::CallTree::Node& node) const override;
  [[nodiscard]] const std::vector<Entry>& legend() const override { return legend_; }
  [[nodiscard]] std::string rules(bool dark_page) const override;

 private:
  const views::CallTreeChange& change_;
  std::vector<Entry> legend_;
};

}  // namespace ringside::exporters
