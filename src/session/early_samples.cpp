#include "session/early_samples.h"

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kMostBytes = 32u << 20;
constexpr std::size_t kMostPages = 64u << 10;

std::size_t size_of(const EarlySamples::Sample& sample) {
  std::size_t bytes = sizeof(sample);
  for (const Stack& part : sample.parts) bytes += sizeof(part) + part.frames.size() * sizeof(Frame);
  if (sample.capture) bytes += sample.capture->bytes.size();
  return bytes + sample.attribution.user_stack.size();
}

}  // namespace

std::optional<GuestVirt> EarlySamples::unknown_code(const wire::Capture& capture,
                                                    const Stack& stack,
                                                    const elf::ImageMap& images) const {
  if (capture.level != PrivilegeLevel::kKernel || stack.frames.empty()) return std::nullopt;
  const unsigned bits = 8u * arch::roles_of(capture.arch).pointer_size;
  const auto is_unknown = [&](GuestVirt at) {
    const bool is_kernels = at.value >> (bits - 1) != 0;
    return is_kernels && images.find_code(at) == nullptr && !never_came_.contains(at.value / kPage);
  };
  const auto own = std::find_if(stack.frames.begin(), stack.frames.end(), [](const Frame& frame) {
    return frame.kind != FrameKind::kFirmware;
  });
  if (own == stack.frames.end()) return std::nullopt;
  const GuestVirt pc = own->address;
  if (is_unknown(pc)) return pc;
  const bool ended_there = stack.stop == StopReason::kBadAddress && is_unknown(stack.stopped_at);
  return ended_there ? std::optional(stack.stopped_at) : std::nullopt;
}

Result<void> EarlySamples::add(Sample sample, std::optional<GuestVirt> waits_for,
                               const Write& write) {
  ticks_ += sample.info.weight;
  const std::size_t bytes = size_of(sample);
  bytes_ += bytes;
  samples_.push_back({std::move(sample), ticks_, bytes, waits_for});
  while (!samples_.empty() && (ticks_ - samples_.front().at >= patience_ || bytes_ > kMostBytes)) {
    give_up(samples_.front().waits_for.value_or(GuestVirt{}).value / kPage);
    RINGSIDE_TRY(release(write));
  }
  return release(write);
}

// The code of a page that never came: other samples wait for it, too.
void EarlySamples::give_up(std::uint64_t page) {
  if (never_came_.size() < kMostPages) never_came_.insert(page);
  for (Held& held : samples_)
    if (held.waits_for && held.waits_for->value / kPage == page) held.waits_for.reset();
}

Result<void> EarlySamples::unwind_again(const elf::ImageMap& images, const Unwind& unwind,
                                        const Write& write) {
  never_came_.clear();
  for (Held& held : samples_) {
    if (!held.waits_for) continue;
    held.sample.parts = unwind(*held.sample.capture, held.sample.attribution);
    held.waits_for = unknown_code(*held.sample.capture, held.sample.parts.front(), images);
  }
  return release(write);
}

Result<void> EarlySamples::finish(const Write& write) {
  for (Held& held : samples_) held.waits_for.reset();
  return release(write);
}

Result<void> EarlySamples::release(const Write& write) {
  while (!samples_.empty() && !samples_.front().waits_for) {
    RINGSIDE_TRY(write(samples_.front().sample));
    bytes_ -= samples_.front().bytes;
    samples_.pop_front();
  }
  return {};
}

}  // namespace ringside::session
