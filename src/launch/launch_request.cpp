#include "launch/launch_request.h"

#include "launch/json_file.h"

namespace ringside::launch {
namespace {

constexpr const char* kName = "request.json";

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchRequest, engine, plugin, plugin_failed, taps_serial,
                                   deterministic, states, seed)

Result<void> LaunchRequest::write(const std::filesystem::path& folder) const {
  return write_json(folder / kName, *this);
}

Result<LaunchRequest> LaunchRequest::read(const std::filesystem::path& folder) {
  RINGSIDE_ASSIGN(const auto request, read_json<LaunchRequest>(folder / kName));
  return request.value_or(LaunchRequest());
}

}  // namespace ringside::launch
