#pragma once

#include <sys/types.h>

namespace ringside::engines::gdb {

// The main thread of the QEMU at the other end of the socket, which must have answered already. 0
// where it cannot be determined (peer_process.h), and where another program is there: a Unix socket
// may have been made by libvirtd or systemd and passed on, or a relay may be in between.
[[nodiscard]] pid_t stub_thread_behind(int socket);

// Whether a process's program, or its name, begins with "qemu".
[[nodiscard]] bool is_qemu(pid_t process);

}  // namespace ringside::engines::gdb
