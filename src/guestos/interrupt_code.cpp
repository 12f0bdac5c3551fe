#include "guestos/interrupt_code.h"

#include <algorithm>
#include <iterator>

namespace ringside::guestos {
namespace {

void sort_by_start(std::vector<InterruptCode::Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
}

}  // namespace

InterruptCode::InterruptCode(std::vector<Range> own, std::vector<Range> shared)
    : own_(std::move(own)), shared_(std::move(shared)) {
  sort_by_start(own_);
  sort_by_start(shared_);
}

bool InterruptCode::contains(const std::vector<Range>& ranges, const Frame& frame) {
  const GuestVirt at = frame.lookup_address();
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), at,
                                      [](GuestVirt to, const Range& r) { return to < r.start; });
  return after != ranges.begin() && at < std::prev(after)->end;
}

std::size_t InterruptCode::interrupt_frames(const Stack& stack) const {
  const std::vector<Frame>& frames = stack.frames;
  const auto is_entry = [&](std::size_t i) {
    return contains(own_, frames[i]) ||
           (i > 0 && contains(shared_, frames[i]) && contains(own_, frames[i - 1]));
  };
  // User code was interrupted where the outermost frame is an interrupt's entry.
  if (stack.stop == StopReason::kUserMode && is_entry(frames.size() - 1)) return frames.size();
  // Kernel code was interrupted somewhere above the frames that are plain kernel code.
  for (std::size_t i = frames.size(); i-- > 0;)
    if (frames[i].kind == FrameKind::kInterrupt && is_entry(i)) return i + 1;
  return 0;
}

void InterruptCode::mark(Stack& stack) const {
  if (own_.empty() || stack.frames.empty()) return;
  const std::size_t end = interrupt_frames(stack);
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    FrameKind& kind = stack.frames[i].kind;
    if (is_kernel(kind)) kind = i < end ? FrameKind::kInterrupt : FrameKind::kKernel;
  }
}

}  // namespace ringside::guestos
