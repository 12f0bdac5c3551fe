#pragma once

#include <cstdint>
#include <vector>

#include "base/dense_table.h"
#include "base/pair_table.h"
#include "recording/records.h"

namespace ringside::recording {

// Gives every distinct frame and stack node of an epoch a number, once, from 1 in the order of
// first sight, and keeps those that were not written yet.
class StackInterner {
 public:
  std::uint32_t intern_frame(const RecordedFrame& frame);
  std::uint32_t intern_node(const StackNode& node);

  struct Pending {
    std::uint32_t first_frame = 1;
    std::vector<RecordedFrame> frames;
    std::uint32_t first_node = 1;
    std::vector<StackNode> nodes;
  };
  [[nodiscard]] const Pending& pending() const { return pending_; }
  // To be called when what is pending was written.
  void clear_pending();
  // Frames and nodes get new numbers from now on, and those that were given stay in use. To be
  // called when nothing is pending.
  void begin_epoch();

 private:
  struct FrameEntry {
    RecordedFrame key;
  };
  struct FrameHash {
    std::uint64_t operator()(const RecordedFrame& frame) const;
  };
  DenseTable<RecordedFrame, FrameEntry, FrameHash> frames_;
  PairTable nodes_;
  std::uint32_t frames_before_ = 0;  // this epoch
  std::uint32_t nodes_before_ = 0;
  Pending pending_;
};

}  // namespace ringside::recording
