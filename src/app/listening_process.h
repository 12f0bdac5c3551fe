#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ringside::app {

// Which process of this machine listens at "PATH" or "HOST:PORT", by the kernel's tables: nothing
// connects, for a connection to a gdb stub stops the guest. 0 where that cannot be determined.
[[nodiscard]] pid_t listening_process(const std::string& address);

// The command line, word by word, of the QEMU of this machine that listens there; else empty.
[[nodiscard]] std::vector<std::string> command_line_of_qemu_at(const std::string& address);

}  // namespace ringside::app
