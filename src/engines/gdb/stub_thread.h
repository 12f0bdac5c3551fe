#pragma once

#include <sys/types.h>

namespace ringside::engines::gdb {

// The main thread of the QEMU that listens on the Unix socket we are connected to. 0 for a TCP
// socket, and where another program listens: a socket may have been made by libvirtd or systemd and
// passed on, or socat may be in between.
[[nodiscard]] pid_t stub_thread_behind(int socket);

// Whether a process's program, or its name, begins with "qemu".
[[nodiscard]] bool is_qemu(pid_t process);

}  // namespace ringside::engines::gdb
