#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "importers/parts/json_columns.h"
#include "importers/parts/stack_budget.h"
#include "recording/writer.h"

namespace ringside::importers {

// That so many stacks lost outer frames.
[[nodiscard]] std::string cut_stacks_sentence(const std::string& input, std::uint64_t count);

// The tree of stacks that a file has, as tables: a node has a frame, and a parent, which comes
// before it.
class StackTree {
 public:
  virtual ~StackTree() = default;
  [[nodiscard]] virtual std::size_t node_count() const = 0;
  [[nodiscard]] virtual std::size_t frame_count() const = 0;
  // kNoIndex: it is a root.
  [[nodiscard]] virtual std::uint32_t parent(std::uint32_t node) const = 0;
  [[nodiscard]] virtual std::uint32_t frame(std::uint32_t node) const = 0;
  [[nodiscard]] virtual Result<recording::RecordedFrame> make_frame(std::uint32_t frame,
                                                                    recording::Writer& writer) = 0;
};

// A stack in the recording: the code that ran, and the user code that entered it.
struct MadeStack {
  PrivilegeLevel level = PrivilegeLevel::kUnknown;
  std::array<recording::StackRef, 2> parts;
  std::size_t count = 0;
  [[nodiscard]] std::span<const recording::StackRef> stacks() const {
    return std::span(parts).first(count);
  }
};

// Makes the stacks of a tree in a recording, each once. A stack keeps its innermost
// kMostStackFrames frames.
class StackMaker {
 public:
  // It takes so many for each node of the tree, which its reader counts.
  static constexpr std::size_t kBytesOfNode = 5;

  // Both must outlive it, and the tree must no longer change.
  StackMaker(StackTree& tree, TableBudget& budget);

  // Whether all indexes of the node and of those above it are in their tables.
  [[nodiscard]] bool is_whole(std::uint32_t node) const {
    return node < is_whole_.size() && is_whole_[node];
  }
  // The node must be whole. Nothing where the budget has no room for another stack.
  [[nodiscard]] Result<std::optional<MadeStack>> stack_of(std::uint32_t node,
                                                          recording::Writer& writer);
  [[nodiscard]] std::uint64_t cut_stacks() const { return cut_stacks_; }

 private:
  struct Made {
    std::array<std::uint32_t, 2> nodes{};
    std::uint8_t count = 0;
    PrivilegeLevel level = PrivilegeLevel::kUnknown;
    bool is_cut = false;
  };

  [[nodiscard]] Result<Made> make(std::uint32_t node, recording::Writer& writer);
  [[nodiscard]] Result<void> gather(std::uint32_t node, recording::Writer& writer);
  [[nodiscard]] std::uint32_t add(std::span<const recording::RecordedFrame> frames,
                                  recording::Writer& writer);

  StackTree& tree_;
  TableBudget& budget_;
  bool has_room_ = true;
  std::vector<bool> is_whole_;
  std::vector<std::uint32_t> made_of_;  // by node: place in made_, plus 1
  std::deque<Made> made_;
  std::unordered_map<std::uint32_t, recording::RecordedFrame> frames_;  // those that stacks have
  std::vector<recording::RecordedFrame> stack_;                         // reused
  bool is_cut_ = false;                                                 // of `stack_`
  std::uint64_t cut_stacks_ = 0;
};

}  // namespace ringside::importers
