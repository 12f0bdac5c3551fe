#include "recording/stack_interner.h"

namespace ringside::recording {
namespace {

// The finaliser of MurmurHash3: std::hash of an integer is the integer, which clusters.
std::size_t mix(std::uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  return static_cast<std::size_t>(value);
}

}  // namespace

std::size_t StackInterner::FrameHash::operator()(const RecordedFrame& frame) const {
  const std::uint64_t traits = std::uint64_t{frame.exact} |
                               static_cast<std::uint64_t>(frame.source) << 1 |
                               static_cast<std::uint64_t>(frame.kind) << 9;
  return mix(frame.address.value ^ traits << 48 ^ std::uint64_t{frame.mapping} << 40 ^
             std::uint64_t{frame.image} << 32);
}

std::size_t StackInterner::NodeHash::operator()(const StackNode& node) const {
  return mix(std::uint64_t{node.parent} << 32 | node.frame);
}

std::uint32_t StackInterner::intern_frame(const RecordedFrame& frame) {
  const auto [it, added] =
      frames_.try_emplace(frame, static_cast<std::uint32_t>(frames_.size() + 1));
  if (added) pending_.frames.push_back(frame);
  return it->second;
}

std::uint32_t StackInterner::intern_node(const StackNode& node) {
  const auto [it, added] = nodes_.try_emplace(node, static_cast<std::uint32_t>(nodes_.size() + 1));
  if (added) pending_.nodes.push_back(node);
  return it->second;
}

void StackInterner::clear_pending() {
  pending_.frames.clear();
  pending_.nodes.clear();
  pending_.first_frame = static_cast<std::uint32_t>(frames_.size() + 1);
  pending_.first_node = static_cast<std::uint32_t>(nodes_.size() + 1);
}

}  // namespace ringside::recording
