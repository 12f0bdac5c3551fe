#pragma once

#include <chrono>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringside::launch {

struct QemuVersion {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  auto operator<=>(const QemuVersion&) const = default;
  [[nodiscard]] std::string to_string() const;  // "10.0.2"
};

// The oldest whose plugin API (version 4) has registers and virtual memory: QEMU_PLUGIN_VERSION in
// include/qemu/qemu-plugin.h of 9.2.
inline constexpr QemuVersion kOldestForPlugin{9, 2, 0};

// Parses the output of `qemu-system-… -version`: "QEMU emulator version 7.2.22 (Debian …)". Nothing
// where it is not that.
[[nodiscard]] std::optional<QemuVersion> parse_qemu_version(std::string_view printed);

// Runs `program -version`. kTimeout where it does not end in time (it is then killed), kFormat
// where what it prints is no version of QEMU's.
[[nodiscard]] Result<QemuVersion> ask_qemu_version(
    const std::string& program, std::chrono::milliseconds timeout = std::chrono::seconds(10));

}  // namespace ringside::launch
