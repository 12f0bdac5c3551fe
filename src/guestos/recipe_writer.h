#pragma once

#include <utility>
#include <vector>

#include "wire/recipe.h"

namespace ringside::guestos {

// Writes a recipe some of whose operations skip to a place that is not written yet.
class RecipeWriter {
 public:
  using Label = std::vector<std::size_t>;  // the operations that skip to it

  void add(const wire::RecipeOp& op) { ops_.push_back(op); }
  // `op` skips to the label, whatever its `skip` is.
  void skip_to(Label& label, const wire::RecipeOp& op) {
    label.push_back(ops_.size());
    ops_.push_back(op);
  }
  void jump_to(Label& label) {
    skip_to(label, {wire::RecipeOpcode::kSkipIfNotLess, 0, 0, 0, 0, 0});  // always
  }
  // The label is here.
  void bind(Label& label) {
    for (const std::size_t from : label)
      ops_[from].skip = static_cast<std::uint32_t>(ops_.size() - from - 1);
    label.clear();
  }
  [[nodiscard]] std::vector<wire::RecipeOp> take() { return std::move(ops_); }
  // With both labels at the end; who goes to `missed` skips `skip` operations behind it as well.
  [[nodiscard]] std::vector<wire::RecipeOp> take(Label& found, Label& missed, std::uint32_t skip) {
    bind(missed);
    add({wire::RecipeOpcode::kSkipIfNotLess, 0, 0, 0, skip, 0});  // always
    bind(found);
    return take();
  }

 private:
  std::vector<wire::RecipeOp> ops_;
};

}  // namespace ringside::guestos
