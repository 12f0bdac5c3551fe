#include "launch/host_facts.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <set>

#include "launch/path_search.h"
#include "launch/qemu/qemu_command.h"

namespace ringside::launch {
namespace {

constexpr unsigned kCapSysPtrace = 19;  // include/uapi/linux/capability.h

std::string first_word_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

}  // namespace

std::vector<std::filesystem::path> qemus_in(const std::string& path) {
  std::vector<std::filesystem::path> found;
  std::set<std::string> names;
  for (const std::string& folder : split_path(path)) {
    std::error_code error;
    std::filesystem::directory_iterator entries(folder, error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
      const std::filesystem::path& program = entries->path();
      const std::string name = program.filename().string();
      if (!is_qemu_program(name) || ::access(program.c_str(), X_OK) != 0) continue;
      if (names.insert(name).second) found.push_back(program);
    }
  }
  return found;
}

TraceRight trace_right(const std::string& scope, const std::string& capabilities) {
  std::uint64_t bits = 0;
  std::from_chars(capabilities.data(), capabilities.data() + capabilities.size(), bits, 16);
  const bool may_all = (bits >> kCapSysPtrace & 1) != 0;
  if (scope == "3") return TraceRight::kNone;
  if (may_all || scope.empty() || scope == "0") return TraceRight::kAll;
  return scope == "1" ? TraceRight::kChildren : TraceRight::kNone;
}

TraceRight trace_right() {
  return trace_right(first_word_of("/proc/sys/kernel/yama/ptrace_scope", ""),
                     first_word_of("/proc/self/status", "CapEff:"));
}

}  // namespace ringside::launch
