#include "session/capture_feedback.h"

#include <algorithm>

namespace ringside::session {

void StackBudget::walked(bool truncated) {
  if (truncated) {
    bytes_ = std::min(bytes_ * 2, wire::kMaxStackBytes);
    since_change_ = 0;
  } else if (bytes_ > floor_ && ++since_change_ >= kDecayAfter) {
    bytes_ -= std::max<std::uint32_t>((bytes_ - floor_) / 8, 1);
    since_change_ = 0;
  }
}

CaptureFeedback::CaptureFeedback(std::size_t vcpus, std::uint32_t stack_bytes, bool fixed)
    : vcpus_(vcpus, Vcpu{StackBudget(stack_bytes), StackBudget(stack_bytes), {}}), fixed_(fixed) {}

void CaptureFeedback::learn(VcpuId id, PrivilegeLevel level, const Stack& stack) {
  const std::lock_guard lock(mutex_);
  if (id.value >= vcpus_.size()) return;
  Vcpu& vcpu = vcpus_[id.value];
  if (stack.missing_link) {
    // Bytes would not have helped: it was another stack.
    const GuestVirt slot = stack.missing_link->slot;
    if (vcpu.links.size() < kMaxLinks &&
        std::find(vcpu.links.begin(), vcpu.links.end(), slot) == vcpu.links.end()) {
      vcpu.links.push_back(slot);
      ++generation_;
    }
    return;
  }
  if (fixed_) return;
  StackBudget& budget = level == PrivilegeLevel::kUser ? vcpu.user : vcpu.kernel;
  budget.walked(stack.stop == StopReason::kTruncated);
}

CaptureFeedback::Advice CaptureFeedback::advice(VcpuId id) const {
  const std::lock_guard lock(mutex_);
  const Vcpu& vcpu = vcpus_[id.value];
  Advice advice;
  advice.kernel.stack_bytes.fill(vcpu.kernel.bytes());
  advice.user.stack_bytes.fill(vcpu.user.bytes());
  advice.links = vcpu.links;
  return advice;
}

std::uint64_t CaptureFeedback::link_generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

}  // namespace ringside::session
