#pragma once

#include "base/result.h"
#include "base/socket.h"
#include "engines/patience.h"

namespace ringside::engines::gdb {

// Whether the server at an address of this machine serves a client at the moment. False also where
// that is not known: on another machine, in another network namespace, or with a Unix socket that
// QEMU was given by a relative path which is spelt in another way here.
[[nodiscard]] bool has_client(const SocketAddress& address);

// Whether a client has connected there that the server has not accepted, because it serves another
// one.
[[nodiscard]] bool has_waiting_client(const SocketAddress& address);

// Waits until no other client is served, because a connection that is not served yet stays in
// QEMU's queue also after it was closed. QEMU takes it from there when the first client leaves, and
// stops the guest for a client that has gone. kTimeout, with what to do: there is one still.
[[nodiscard]] Result<void> wait_until_free(const SocketAddress& address, const Patience& patience);

}  // namespace ringside::engines::gdb
