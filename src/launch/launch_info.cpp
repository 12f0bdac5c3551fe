#include "launch/launch_info.h"

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace ringside::launch {
namespace {

constexpr const char* kName = "qemu.json";

// QEMU's arguments need not be UTF-8.
std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchInfo, pid, program, arguments, gdb_address,
                                   gdb_is_the_users, kernel, serial_log, waits_for_continue,
                                   uses_terminal, terminal_is_raw, daemonizes, error)

Result<void> LaunchInfo::write(const std::filesystem::path& folder) const {
  return write_output(folder / kName, dump(nlohmann::json(*this)));
}

Result<std::optional<LaunchInfo>> LaunchInfo::read(const std::filesystem::path& folder) {
  auto file = MappedFile::open(folder / kName);
  if (!file) {
    if (file.error().code == ErrorCode::kNotFound) return std::nullopt;
    return tl::unexpected<Error>(file.error());
  }
  const Bytes bytes = (*file)->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto json = nlohmann::json::parse(text, nullptr, false);
  try {
    return std::optional<LaunchInfo>(json.get<LaunchInfo>());
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kFormat, "{}: {}", (folder / kName).string(), error.what());
  }
}

}  // namespace ringside::launch
