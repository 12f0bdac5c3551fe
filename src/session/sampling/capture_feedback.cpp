#include "session/sampling/capture_feedback.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "arch/arch_info.h"

namespace ringside::session {
namespace {

std::optional<std::uint64_t> word_at(const wire::Capture& capture, GuestVirt at) {
  if (arch::roles_of(capture.arch).pointer_size == 8) return capture.read<std::uint64_t>(at);
  return capture.read<std::uint32_t>(at);
}

// A walk comes to know the other stack through any copy of its pointer, for instance a saved
// register at a place that changes with every interrupt. Entry code keeps its own copy at the
// stack's top, which does not move: the highest word above the slot with the same value.
GuestVirt topmost_copy(const wire::Capture& capture, GuestVirt slot) {
  const std::uint64_t size = arch::roles_of(capture.arch).pointer_size;
  const auto pointer = word_at(capture, slot);
  GuestVirt topmost = slot;
  for (GuestVirt at = slot + size; at - slot < wire::kMaxStackBytes; at = at + size) {
    const auto word = word_at(capture, at);
    if (!word) break;
    if (word == pointer) topmost = at;
  }
  return topmost;
}

// A walk that held the pointer in a register only cannot say where it is stored. Then it is the
// topmost word of the current stack that points a little below the wanted address, for entry code
// stores the stack pointer that it leaves. Nothing if the wanted address may belong to the current
// stack itself.
std::optional<GuestVirt> slot_below(const wire::Capture& capture, GuestVirt wanted) {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kSavedRegisters = 256;
  const auto found = std::find_if(
      capture.pieces.begin(), capture.pieces.end(),
      [](const wire::MemoryPiece& piece) { return piece.why == wire::PieceKind::kCurrentStack; });
  if (found == capture.pieces.end()) return std::nullopt;
  const wire::MemoryPiece& current = *found;
  if (wanted - current.address < current.size + kPage) return std::nullopt;
  std::optional<GuestVirt> slot;
  const std::uint32_t size = arch::roles_of(capture.arch).pointer_size;
  for (std::uint32_t offset = 0; offset + size <= current.size; offset += size) {
    const auto word = word_at(capture, current.address + offset);
    if (word && wanted.value - *word <= kSavedRegisters) slot = current.address + offset;
  }
  return slot;
}

guestos::LearntLink learnt_link(const wire::Capture& capture, GuestVirt slot) {
  const arch::RegisterRoles roles = arch::roles_of(capture.arch);
  if (roles.link == arch::RegisterRoles::kNone) return {.slot = slot};
  auto returns_to = word_at(capture, slot + roles.pointer_size);
  if (returns_to) *returns_to &= guestos::kReturnAddressBits;
  return {.slot = slot, .returns_to = returns_to};
}

}  // namespace

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
    : vcpus_(vcpus, Vcpu{StackBudget(stack_bytes), StackBudget(stack_bytes)}), fixed_(fixed) {}

void CaptureFeedback::learn(const wire::Capture& capture, const Stack& stack) {
  const std::lock_guard lock(mutex_);
  if (capture.vcpu.value >= vcpus_.size()) return;
  Vcpu& vcpu = vcpus_[capture.vcpu.value];
  learn_hooked_returns(stack.hooked_returns);
  if (stack.hooked_returns == HookedReturns::kNotCopied) return;
  std::optional<GuestVirt> link;
  if (stack.missing_link)
    link = topmost_copy(capture, stack.missing_link->slot);
  else if (stack.stop == StopReason::kTruncated || stack.stop == StopReason::kUnreadable ||
           stack.stop == StopReason::kNotCopied)
    link = slot_below(capture, stack.stopped_at);
  if (link) {
    // Bytes would not have helped: it was another stack.
    const guestos::LearntLink learnt = learnt_link(capture, *link);
    if (vcpu.links.size() < guestos::kMaxKernelLinks &&
        std::find(vcpu.links.begin(), vcpu.links.end(), learnt) == vcpu.links.end()) {
      vcpu.links.push_back(learnt);
      ++generation_;
    }
    return;
  }
  if (fixed_) return;
  if (capture.level != PrivilegeLevel::kUser)
    vcpu.kernel.walked(stack.stop == StopReason::kTruncated);
}

void CaptureFeedback::learn_hooked_returns(HookedReturns seen) {
  if (seen != HookedReturns::kNone) {
    if (std::exchange(hooked_returns_for_, kUntracedStacks) == 0) ++generation_;
  } else if (hooked_returns_for_ != 0 && --hooked_returns_for_ == 0) {
    ++generation_;
  }
}

void CaptureFeedback::learn_entry(const wire::Capture& capture, const unwind::UserEntry& entry) {
  const std::lock_guard lock(mutex_);
  if (entry.truncated && !fixed_ && capture.vcpu.value < vcpus_.size())
    vcpus_[capture.vcpu.value].kernel.walked(true);
  if (!entry.sp_slot) return;
  const auto known =
      std::find_if(user_slots_.begin(), user_slots_.end(),
                   [&](const UserSlot& each) { return each.slot == *entry.sp_slot; });
  if (known != user_slots_.end()) {
    known->last_use = ++uses_;
    return;
  }
  const GuestVirt sp{entry.registers.get(arch::roles_of(capture.arch).sp)};
  if (capture.read<std::uint8_t>(sp)) return;
  const UserSlot learnt{*entry.sp_slot, ++uses_};
  if (user_slots_.size() < guestos::kMaxUserLinks)
    user_slots_.push_back(learnt);
  else
    *std::min_element(
        user_slots_.begin(), user_slots_.end(),
        [](const UserSlot& a, const UserSlot& b) { return a.last_use < b.last_use; }) = learnt;
  ++generation_;
}

void CaptureFeedback::learn_firmware(VcpuId id, GuestVirt frame) {
  const std::lock_guard lock(mutex_);
  if (id.value >= vcpus_.size() || vcpus_[id.value].firmware_frame == frame) return;
  vcpus_[id.value].firmware_frame = frame;
  ++generation_;
}

void CaptureFeedback::learn_user(VcpuId vcpu, const Stack& stack) {
  const std::lock_guard lock(mutex_);
  if (fixed_ || vcpu.value >= vcpus_.size()) return;
  vcpus_[vcpu.value].user.walked(stack.stop == StopReason::kTruncated);
}

CaptureFeedback::Advice CaptureFeedback::advice(VcpuId id) const {
  const std::lock_guard lock(mutex_);
  const Vcpu& vcpu = vcpus_[id.value];
  Advice advice;
  advice.kernel.stack_bytes.fill(vcpu.kernel.bytes());
  advice.user.stack_bytes.fill(vcpu.user.bytes());
  constexpr auto kUserStack = static_cast<std::size_t>(wire::PieceKind::kUserStack);
  advice.kernel.stack_bytes[kUserStack] = vcpu.user.bytes();
  advice.links = vcpu.links;
  advice.firmware_frame = vcpu.firmware_frame;
  advice.hooked_returns = hooked_returns_for_ != 0;
  for (const UserSlot& each : user_slots_)
    advice.links.push_back({.slot = each.slot, .leads_to_user = true});
  return advice;
}

void CaptureFeedback::forget_links() {
  const std::lock_guard lock(mutex_);
  for (Vcpu& vcpu : vcpus_) {
    vcpu.links.clear();
    vcpu.firmware_frame.reset();
  }
  user_slots_.clear();
  hooked_returns_for_ = 0;
  ++generation_;
}

std::uint64_t CaptureFeedback::link_generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

}  // namespace ringside::session
