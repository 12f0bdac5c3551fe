#pragma once

#include <chrono>
#include <filesystem>
#include <limits>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/plugin/plugin_files.h"

namespace ringside::launch {

// The versions of the plugin API that a QEMU accepts, both ends included, as far as is known.
struct PluginApi {
  unsigned oldest = 0;
  unsigned newest = std::numeric_limits<unsigned>::max();
  [[nodiscard]] bool accepts(unsigned api) const { return oldest <= api && api <= newest; }
  bool operator==(const PluginApi&) const = default;
};

// Reads what a QEMU prints that was given a plugin for version `api` to load and to ask by
// (wire/plugin_question.h). kUnsupported, with QEMU's line, where it cannot load that file whatever
// its version; kFormat where it says nothing of the plugin.
[[nodiscard]] Result<PluginApi> parse_plugin_answer(std::string_view printed, unsigned api);

// Starts the ELF program `qemu` without a machine, with a plugin of `family` to load, and with
// another one where it refuses the version. Errors as above, and kTimeout.
[[nodiscard]] Result<PluginApi> ask_plugin_api(
    const std::filesystem::path& qemu, const std::vector<PluginFile>& family,
    std::chrono::milliseconds timeout = std::chrono::seconds(5));

}  // namespace ringside::launch
