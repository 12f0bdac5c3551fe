#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/gdb_lines.h"
#include "importers/parts/stack_budget.h"
#include "recording/writer.h"

namespace ringside::importers {

// One stack of gdb's text becomes frames of a recording.
class GdbStack {
 public:
  // The writer must outlive the stack.
  explicit GdbStack(recording::Writer& writer) : writer_(writer) {}

  // The next frame outwards. `text` is its line without the number. Errors: the writer's.
  [[nodiscard]] Result<void> add(std::string_view text, const GdbFrame& frame);
  // The frames since the last call, leaf first. Valid until the next call.
  [[nodiscard]] recording::StackRef finish();

  // Instead of finish(): the stack is left out.
  void drop() { frames_.clear(); }

  // After finish(): whether the code that ran was a kernel's.
  [[nodiscard]] bool is_kernel() const { return is_kernel_; }
  // Without room no frame may be added.
  [[nodiscard]] bool has_room() const { return budget_.has_room(); }

 private:
  struct Open {
    recording::RecordedFrame frame;
    bool has_address = false;
    bool is_signal = false;
  };
  [[nodiscard]] Result<Open> make(const GdbFrame& frame);
  [[nodiscard]] Result<std::uint32_t> image_of(std::string_view path);
  [[nodiscard]] Result<std::uint32_t> text_of(std::string_view text);
  void join_inlined();
  void find_kinds();

  recording::Writer& writer_;
  StackBudget budget_;
  std::unordered_map<std::string, Open> known_;  // by text
  std::unordered_map<std::string, std::uint32_t> images_;
  std::string text_;  // reused
  std::vector<Open> frames_;
  std::vector<recording::RecordedFrame> finished_;  // reused
  bool is_kernel_ = false;
};

}  // namespace ringside::importers
