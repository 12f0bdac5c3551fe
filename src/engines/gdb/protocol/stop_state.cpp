#include "engines/gdb/protocol/stop_state.h"

namespace ringside::engines::gdb {
namespace {

std::optional<StopState> after_running(StopEvent event) {
  if (event == StopEvent::kStopSent) return StopState::kHeld;
  if (event == StopEvent::kUnaskedStop || event == StopEvent::kMigrates) return StopState::kPaused;
  return std::nullopt;
}

std::optional<StopState> after_held(StopEvent event) {
  switch (event) {
    case StopEvent::kStopSent:
      return StopState::kHeld;
    case StopEvent::kUnaskedStop:  // its user has resumed it and stopped it again
    case StopEvent::kFoundPaused:
    case StopEvent::kMigrates:
      return StopState::kPaused;
    case StopEvent::kContinueSent:
      return StopState::kRunning;
    case StopEvent::kWriteFailed:
      return StopState::kBrokenOff;
    case StopEvent::kLetGo:
      return StopState::kDetached;
    default:
      return std::nullopt;
  }
}

// Nothing resumes it but its user.
std::optional<StopState> after_paused(StopEvent event) {
  switch (event) {
    case StopEvent::kUnaskedStop:
    case StopEvent::kFoundPaused:
    case StopEvent::kMigrates:
      return StopState::kPaused;
    case StopEvent::kFoundRunning:
      return StopState::kHeld;
    case StopEvent::kWriteFailed:
    case StopEvent::kLetGo:
      return StopState::kDetached;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<StopState> after(StopState state, StopEvent event) {
  if (event == StopEvent::kEnded)
    return state == StopState::kDetached ? StopState::kDetached : StopState::kGone;
  switch (state) {
    case StopState::kRunning:
      return after_running(event);
    case StopState::kHeld:
      return after_held(event);
    case StopState::kPaused:
      return after_paused(event);
    case StopState::kBrokenOff:
      return event == StopEvent::kLetGo ? std::optional(StopState::kDetached) : std::nullopt;
    case StopState::kDetached:
    case StopState::kGone:
      break;
  }
  return std::nullopt;
}

GuestState guest_state_in(StopState state) {
  switch (state) {
    case StopState::kRunning:
      return GuestState::kRunning;
    case StopState::kHeld:
    case StopState::kBrokenOff:
      return GuestState::kOurs;
    case StopState::kPaused:
    case StopState::kDetached:
    case StopState::kGone:
      break;
  }
  return GuestState::kPaused;
}

}  // namespace ringside::engines::gdb
