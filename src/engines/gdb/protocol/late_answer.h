#pragma once

namespace ringside::engines::gdb {

// Whether the guest ran before a connection was made, for a connection that the stub may not have
// accepted yet: it waits for as long as that takes. Asks QEMU for its version and the guest's
// state: up to 8.0 it sends a stop reply to a new client if the guest had been running; from 8.1 on
// it does not report, and a guest that is "paused" for no other reason is taken to have run. So is
// that of a stub which is not QEMU's. False where the connection has ended. Calls only what is
// async-signal-safe.
[[nodiscard]] bool ran_before_connection(int socket);

}  // namespace ringside::engines::gdb
