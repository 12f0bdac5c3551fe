#pragma once

#include <optional>

#include "engines/guardian.h"

namespace ringside::engines::gdb {

// Who has stopped the guest, and whether there is a stub to talk to.
enum class StopState {
  kRunning,    // the guest runs
  kHeld,       // it stands still for a sample or a read, or is about to
  kPaused,     // its user has stopped it, or migrates it: ringside does not let it run
  kBrokenOff,  // the stub has half of a request: only the detach sequence can be sent
  kDetached,   // the detach sequence is said, or left to the guardian; or the guest is left to its
               // user
  kGone,       // the stub has closed the connection, or the guest has ended
};

// Events that change the state. Each is a packet, or what became of one.
enum class StopEvent {
  kStopSent,  // "\x03", `qC` or the detach sequence go out: the first byte stops a guest that runs
  kUnaskedStop,   // a stop reply that nothing was sent for: the user's stop
  kFoundPaused,   // `qC` was answered as on a guest that stood: its user was first
  kFoundRunning,  // a request to a paused guest stopped it: its user had resumed it
  kContinueSent,  // `c`
  kMigrates,      // it is being migrated, whether it runs or stands
  kWriteFailed,   // the stub took only a part of a request in time
  kLetGo,         // `D` is answered, or the guardian says it
  kEnded,         // the connection's end, or a reply `W` or `X`
};

// The state after an event; nothing where that event cannot come in that state. The whole table is
// in stop_state_test.cpp.
[[nodiscard]] std::optional<StopState> after(StopState state, StopEvent event);

// The state that is reported to the guardian.
[[nodiscard]] GuestState guest_state_in(StopState state);

}  // namespace ringside::engines::gdb
