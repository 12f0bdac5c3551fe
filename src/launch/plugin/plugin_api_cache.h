#pragma once

#include <filesystem>
#include <optional>

#include "launch/plugin/plugin_api.h"

namespace ringside::launch {

// Answers of QEMUs, kept in a file of the user's. An answer holds for as long as the QEMU has the
// size and the time of modification that it had. The file has a checksum, and a damaged one
// is removed. One that cannot be read or written is empty.
class PluginApiCache {
 public:
  // $XDG_CACHE_HOME/ringside/plugin-api.json, or in ~/.cache; without a file where neither is set.
  PluginApiCache();
  explicit PluginApiCache(std::filesystem::path file) : file_(std::move(file)) {}

  [[nodiscard]] std::optional<PluginApi> find(const std::filesystem::path& qemu) const;
  void keep(const std::filesystem::path& qemu, const PluginApi& api) const;

 private:
  std::filesystem::path file_;
};

}  // namespace ringside::launch
