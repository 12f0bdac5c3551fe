#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "importers/json_lines/images.h"
#include "importers/json_lines/line.h"
#include "importers/parts/stack_budget.h"
#include "recording/writer.h"

namespace ringside::importers::json_lines {

// Makes the stacks of lines in a recording. Many lines have the same ones, so their texts are kept.
class Stacks {
 public:
  // Both must outlive it.
  Stacks(Images& images, recording::Writer& writer) : images_(images), writer_(writer) {}

  // Those that `text` has, an array of JSON. Valid until the next call. Errors: kFormat for what is
  // no array of stacks, or where there is no room for more; the writer's.
  [[nodiscard]] Result<const std::vector<recording::StackRef>*> of(std::string_view text);
  [[nodiscard]] Result<const std::vector<recording::StackRef>*> of(const Item& stacks);
  // The frame of a field that is a symbol; 0 for null. Errors as those of of().
  [[nodiscard]] Result<std::uint32_t> symbol(const Item& frame);
  // To be called where an epoch begins.
  void forget();
  [[nodiscard]] std::uint64_t cut_stacks() const { return cut_stacks_; }

 private:
  [[nodiscard]] Result<void> fill(std::string_view text, std::vector<recording::StackRef>& refs);
  [[nodiscard]] Result<void> fill(const Item& stacks, std::vector<recording::StackRef>& refs);
  [[nodiscard]] Result<recording::StackRef> make(const Item& stack);
  [[nodiscard]] Result<void> add_frame(const Item& frame);
  [[nodiscard]] Result<std::uint32_t> text(std::string_view name);

  Images& images_;
  recording::Writer& writer_;
  StackBudget budget_;
  std::unordered_map<std::string, std::vector<recording::StackRef>> known_;
  std::size_t known_bytes_ = 0;
  std::vector<recording::StackRef> refs_;         // of the last item
  std::vector<recording::RecordedFrame> frames_;  // reused; innermost first
  std::uint64_t cut_stacks_ = 0;
};

}  // namespace ringside::importers::json_lines
