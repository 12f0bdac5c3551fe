#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engines/gdb/protocol/connection.h"
#include "engines/gdb/protocol/stub.h"
#include "engines/guardian.h"
#include "engines/patience.h"

namespace ringside::engines::gdb {

// Result of a handshake; the guest stands still.
struct Greeting {
  StubTraits traits;
  bool guest_was_running = true;
  bool describes_registers = false;  // it offers qXfer:features:read
  std::string qemu_version;          // "7.2.22"; empty for other stubs
};

// Whether the guest ran before the connection, by the monitor's "info cpus"; nothing: not known.
using DidRun = std::function<std::optional<bool>(std::string_view info_cpus)>;

// The first exchange with whatever is at the other end of a socket.
//
// Enters: a fresh connection. Leaves: what the stub can do, and whether the guest ran. The latter
// is the hard part: QEMU stops the guest when a client connects. Up to 8.0 it then sends a stop
// reply that nobody asked for, but only if the guest had been running (gdbstub.c, gdb_chr_event and
// gdb_vm_state_change; found on 7.2). From 8.1 on it sends stop replies only where the protocol
// allows them, so a guest that its user had paused and a running one look alike, except for the
// text of "info status": "paused" is both, "paused (prelaunch)" and the like are the user's. Then
// `did_run` is asked, and where it does not know either, the guest is taken to have run.
// `was_running` overrides what is found, for callers that asked QMP before they connected.
// On an error the guest may stand still: the guardian is to be abandoned.
[[nodiscard]] Result<Greeting> shake_hands(Connection& connection, Guardian* guardian,
                                           std::optional<bool> was_running, const DidRun& did_run,
                                           const Patience& patience);

// Whether a text as "7.2.22 (Debian …)" is at least this version. Allocates nothing.
[[nodiscard]] bool version_at_least(std::string_view version, unsigned major, unsigned minor);

}  // namespace ringside::engines::gdb
