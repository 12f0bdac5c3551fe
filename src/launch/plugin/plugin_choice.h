#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launch/plugin/plugin_api_cache.h"
#include "launch/plugin/plugin_files.h"
#include "launch/qemu/qemu_version.h"

namespace ringside::launch {

// Which TCG plugin a QEMU is given.
struct PluginChoice {
  PluginFile file;         // its path is empty where there is none
  std::string why;         // there is none; else empty
  std::string better;      // what would make one possible; empty where nothing would
  bool was_asked = false;  // the QEMU itself has answered so
};

// The plugin of `family` for the newest API that the QEMU `program` accepts. It is asked by a load
// (ask_plugin_api), or was once (`cache`); where no program is known that could be asked, `version`
// says it. A cached answer is not taken where `anew`.
[[nodiscard]] PluginChoice choose_plugin(const std::string& program,
                                         const std::optional<QemuVersion>& version,
                                         const std::vector<PluginFile>& family,
                                         const PluginApiCache& cache, bool anew = false);

}  // namespace ringside::launch
