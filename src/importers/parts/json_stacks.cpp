#include "importers/parts/json_stacks.h"

#include <fmt/core.h>

#include <algorithm>

namespace ringside::importers {
namespace {

using recording::RecordedFrame;

PrivilegeLevel level_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::kKernel:
    case FrameKind::kInterrupt:
      return PrivilegeLevel::kKernel;
    case FrameKind::kUser:
      return PrivilegeLevel::kUser;
    case FrameKind::kFirmware:
      return PrivilegeLevel::kFirmware;
    case FrameKind::kGuest:
      return PrivilegeLevel::kGuest;
    case FrameKind::kCode:
      break;
  }
  return PrivilegeLevel::kUnknown;
}

}  // namespace

std::string cut_stacks_sentence(const std::string& input, std::uint64_t count) {
  return fmt::format("{}: the outer frames of {} stack{} are left out: a stack has at most {}",
                     input, count, count == 1 ? "" : "s", kMostStackFrames);
}

StackMaker::StackMaker(StackTree& tree, TableBudget& budget)
    : tree_(tree), budget_(budget), is_whole_(tree.node_count()), made_of_(tree.node_count()) {
  budget.begin_stacks();
  const std::size_t frames = tree.frame_count();
  for (std::uint32_t node = 0; node < is_whole_.size(); ++node) {
    const std::uint32_t parent = tree.parent(node);
    const bool parent_is_whole = parent == kNoIndex || (parent < node && is_whole_[parent]);
    is_whole_[node] = parent_is_whole && tree.frame(node) < frames;
  }
}

Result<std::optional<MadeStack>> StackMaker::stack_of(std::uint32_t node,
                                                      recording::Writer& writer) {
  if (made_of_[node] == 0) {
    has_room_ = has_room_ && budget_.take(sizeof(Made));
    if (!has_room_) return std::nullopt;
    RINGSIDE_ASSIGN(const Made made, make(node, writer));
    made_.push_back(made);
    made_of_[node] = static_cast<std::uint32_t>(made_.size());
    if (made.is_cut) ++cut_stacks_;
  }
  const Made& made = made_[made_of_[node] - 1];
  MadeStack stack;
  stack.level = made.level;
  stack.count = made.count;
  for (std::size_t i = 0; i < made.count; ++i) {
    stack.parts[i].node = made.nodes[i];
    stack.parts[i].stop = StopReason::kEndOfStack;
  }
  if (made.count == 2) stack.parts[0].stop = StopReason::kUserMode;
  if (made.is_cut) stack.parts[made.count - 1].stop = StopReason::kTooDeep;
  return stack;
}

Result<StackMaker::Made> StackMaker::make(std::uint32_t node, recording::Writer& writer) {
  RINGSIDE_TRY(gather(node, writer));
  Made made;
  made.level = level_of(stack_.front().kind);
  made.is_cut = is_cut_;
  auto user = stack_.end();
  if (made.level == PrivilegeLevel::kKernel)
    user = std::find_if(stack_.begin(), stack_.end(),
                        [](const RecordedFrame& frame) { return frame.kind == FrameKind::kUser; });
  made.nodes[made.count++] = add({stack_.begin(), user}, writer);
  if (user != stack_.end()) made.nodes[made.count++] = add({user, stack_.end()}, writer);
  return made;
}

std::uint32_t StackMaker::add(std::span<const RecordedFrame> frames, recording::Writer& writer) {
  const std::uint32_t node = writer.add_stack(frames).node;
  const bool is_lost = node == recording::kLostStack;
  const bool has_room =
      budget_.take_look_ups(frames.size()) && budget_.take_node(is_lost ? 0 : node);
  has_room_ = has_room_ && has_room;
  return node;
}

// Fills stack_, leaf first.
Result<void> StackMaker::gather(std::uint32_t node, recording::Writer& writer) {
  stack_.clear();
  constexpr std::size_t kBytesOfFrame = 200;  // here and in the writer
  for (; node != kNoIndex && stack_.size() < kMostStackFrames; node = tree_.parent(node)) {
    const std::uint32_t index = tree_.frame(node);
    const auto [entry, added] = frames_.try_emplace(index);
    if (added) {
      RINGSIDE_ASSIGN(entry->second, tree_.make_frame(index, writer));
      has_room_ = budget_.take(kBytesOfFrame) && has_room_;
    }
    stack_.push_back(entry->second);
  }
  is_cut_ = node != kNoIndex;
  return {};
}

}  // namespace ringside::importers
