#include "recording/stack_interner.h"

namespace ringside::recording {

std::uint64_t StackInterner::FrameHash::operator()(const RecordedFrame& frame) const {
  const std::uint64_t traits = std::uint64_t{frame.exact} |
                               static_cast<std::uint64_t>(frame.source) << 1 |
                               static_cast<std::uint64_t>(frame.kind) << 9;
  const std::uint64_t names = std::uint64_t{frame.function} << 32 | frame.line;
  return mixed((names == 0 ? 0 : mixed(names)) ^ frame.address.value ^ traits << 48 ^
               std::uint64_t{frame.mapping} << 40 ^ std::uint64_t{frame.image} << 32);
}

std::uint32_t StackInterner::intern_frame(const RecordedFrame& frame) {
  const std::uint32_t number = frames_before_ + frames_.find_or_add(frame);
  if (number + 1 == pending_.first_frame + pending_.frames.size()) pending_.frames.push_back(frame);
  return number + 1;
}

std::uint32_t StackInterner::intern_node(const StackNode& node) {
  const std::uint32_t number = nodes_before_ + nodes_.intern(node.parent, node.frame);
  if (number + 1 == pending_.first_node + pending_.nodes.size()) pending_.nodes.push_back(node);
  return number + 1;
}

void StackInterner::clear_pending() {
  pending_.frames.clear();
  pending_.nodes.clear();
  pending_.first_frame = frames_before_ + static_cast<std::uint32_t>(frames_.size()) + 1;
  pending_.first_node = nodes_before_ + static_cast<std::uint32_t>(nodes_.size()) + 1;
}

void StackInterner::begin_epoch() {
  frames_before_ += static_cast<std::uint32_t>(frames_.size());
  nodes_before_ += static_cast<std::uint32_t>(nodes_.size());
  frames_.clear();
  nodes_.clear();
}

}  // namespace ringside::recording
