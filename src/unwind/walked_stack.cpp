#include "unwind/walked_stack.h"

namespace ringside::unwind {

Stack walked_stack(const wire::WalkedFrames& walked, FrameKind kind, const MissedCaller& missed) {
  Stack stack;
  stack.frames.reserve(walked.size() + walked.interruptions().size());
  auto interruption = walked.interruptions().begin();
  for (std::size_t n = 0; n < walked.size(); ++n) {
    const bool is_interrupted =
        interruption != walked.interruptions().end() && interruption->frame == n;
    stack.frames.push_back({.address = walked.at(n),
                            .exact = n == 0 || is_interrupted,
                            .source = n == 0 ? FrameSource::kRegisters : FrameSource::kGuestsWalk,
                            .kind = kind});
    if (!is_interrupted) continue;
    if (const auto caller = missed ? missed(walked.at(n), *interruption) : std::nullopt)
      stack.frames.push_back(*caller);
    ++interruption;
  }
  stack.stop = walked.stop();
  stack.stopped_at = stack.frames.back().address;
  return stack;
}

Stack walked_stack(const wire::GuestFrames& frames) {
  Stack stack;
  stack.stop = frames.stop;
  for (const std::uint64_t address : frames.addresses)
    stack.frames.push_back({.address = GuestVirt{address}, .source = FrameSource::kGuestsWalk});
  return stack;
}

std::optional<Stack> walked_user_stack(const wire::Capture& capture) {
  const auto walked = wire::WalkedFrames::find(capture, wire::PieceKind::kUserFrames);
  if (!walked) return std::nullopt;
  return walked_stack(*walked, FrameKind::kUser);
}

}  // namespace ringside::unwind
