#include "launch/launch_info.h"

#include "launch/json_file.h"

namespace ringside::launch {
namespace {

constexpr const char* kName = "qemu.json";

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EngineChoice, engine, why, better)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchInfo, pid, program, arguments, choice, gdb_address, ring,
                                   plugin, instruction_ns, qmp_address, gdb_is_the_users, kernel,
                                   initrd, serial_log, waits_for_continue, uses_terminal,
                                   terminal_is_raw, daemonizes, is_deterministic, warnings, refused,
                                   error)

Result<void> LaunchInfo::write(const std::filesystem::path& folder) const {
  return write_json(folder / kName, *this);
}

Result<std::optional<LaunchInfo>> LaunchInfo::read(const std::filesystem::path& folder) {
  return read_json<LaunchInfo>(folder / kName);
}

}  // namespace ringside::launch
