#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ringside::launch {

// The QEMU system emulators in a PATH, the first of each name, in PATH's order.
[[nodiscard]] std::vector<std::filesystem::path> qemus_in(const std::string& path);

// Whether this process may read another one's memory, as this user (ptrace(2), Yama's
// Documentation/admin-guide/LSM/Yama.rst).
enum class TraceRight {
  kAll,       // CAP_SYS_PTRACE, or Yama is off: every process of this user
  kChildren,  // its own descendants only: guests that ringside starts
  kNone,      // not without CAP_SYS_PTRACE, or not at all
};
// `scope` is the number in /proc/sys/kernel/yama/ptrace_scope, empty where there is no Yama;
// `capabilities` the hexadecimal CapEff of /proc/self/status.
[[nodiscard]] TraceRight trace_right(const std::string& scope, const std::string& capabilities);
[[nodiscard]] TraceRight trace_right();

}  // namespace ringside::launch
