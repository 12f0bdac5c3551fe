#pragma once

#include <filesystem>
#include <vector>

namespace ringside::launch {

inline constexpr const char* kPluginName = "libringside-tcg.so";

// A TCG plugin of ours, and the version of QEMU's plugin API that it needs.
struct PluginFile {
  std::filesystem::path path;
  unsigned api = 0;
};

// The plugin: $RINGSIDE_PLUGIN, or libringside-tcg.so beside the program `self` in the build tree,
// or where `cmake --install` or the .deb puts it (cmake/install.cmake). Empty where it is nowhere.
[[nodiscard]] std::filesystem::path find_plugin(const std::filesystem::path& self);

// The plugins that belong to `plugin`, the one for the newest API first: libringside-tcg.so is for
// version 4, and those beside it are libringside-tcg-N.so. One with another name stands for itself:
// its version is the N that it ends in, else 4. None where `plugin` is empty.
[[nodiscard]] std::vector<PluginFile> plugin_family(const std::filesystem::path& plugin);

}  // namespace ringside::launch
