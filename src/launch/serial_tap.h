#pragma once

#include <filesystem>

#include "base/result.h"
#include "launch/qemu/qemu_command.h"

namespace ringside::launch {

// Makes a file hold what the guest writes to its first serial port, beside where it goes already,
// by QEMU's own `logfile` of a character device. Returns that file: `log`, or the user's own for
// "-serial file:PATH". Error kUnsupported where the port goes to something that has no log file.
[[nodiscard]] Result<std::filesystem::path> tap_serial_port(QemuCommand& command,
                                                            const std::filesystem::path& log);

}  // namespace ringside::launch
