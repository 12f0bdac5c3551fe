#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recording/samples.h"

namespace ringside::importers {

// Frames of one stack that readers of recordings take (recording::ReplayLimits); the outer ones of
// a deeper stack are left out, and the stack counts as truncated.
inline constexpr std::size_t kMostStackFrames = 512;

// Bounds what a recording's writer keeps in memory: it grows with the number of distinct frames and
// stacks, and with the length of names, and an input may be made so that nothing in it repeats. A
// profile of a whole machine has some 100,000 frames and a few million nodes.
class StackBudget {
 public:
  // The next stack has a frame that may be a new one.
  void add_frame() { ++maybe_new_; }
  // As the writer gave it: nodes are numbered in the order of first sight, and each new frame is in
  // a new node.
  void add_stack(const recording::StackRef& stack) {
    const std::uint64_t grown =
        stack.node == recording::kLostStack || stack.node < nodes_ ? 0 : stack.node - nodes_;
    nodes_ += grown;
    frames_ += std::min(maybe_new_, grown);
    maybe_new_ = 0;
  }
  // Whether the writer may be given frames and stacks that it does not know.
  [[nodiscard]] bool has_room() const { return frames_ < kMostFrames && nodes_ < kMostNodes; }
  // Why there is no room, for Faults.
  static constexpr const char* kReason =
      "the input has more distinct stacks than ringside keeps in memory";

  // A name, or the beginning of one that is very long where there are many such. (The writer bounds
  // the number of names that it keeps.)
  [[nodiscard]] std::string_view bounded(std::string_view name) {
    if (name.size() <= kShortName) return name;
    if (long_names_ + name.size() > kMostLongNames) return name.substr(0, kShortName);
    long_names_ += name.size();
    return name;
  }

 private:
  static constexpr std::uint64_t kMostFrames = 3 << 20;       // about 80 bytes each
  static constexpr std::uint64_t kMostNodes = 16 << 20;       // about 24 bytes each
  static constexpr std::size_t kShortName = 256;              // bytes
  static constexpr std::size_t kMostLongNames = 64ull << 20;  // bytes, kept up to three times

  std::uint64_t maybe_new_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t nodes_ = 0;
  std::size_t long_names_ = 0;
};

}  // namespace ringside::importers
