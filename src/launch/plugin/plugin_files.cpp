#include "launch/plugin/plugin_files.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

namespace ringside::launch {
namespace {

constexpr unsigned kOldestApi = 4;

// The N of NAME-N.so.
unsigned api_of(const std::filesystem::path& plugin) {
  const std::string stem = plugin.stem().string();
  const std::size_t dash = stem.rfind('-');
  if (dash == std::string::npos) return kOldestApi;
  unsigned api = 0;
  const char* const end = stem.data() + stem.size();
  const auto parsed = std::from_chars(stem.data() + dash + 1, end, api);
  return parsed.ec == std::errc{} && parsed.ptr == end ? api : kOldestApi;
}

}  // namespace

std::filesystem::path find_plugin(const std::filesystem::path& self) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (const char* named = std::getenv("RINGSIDE_PLUGIN"); named != nullptr && *named != '\0')
    return fs::exists(named, ignored) ? fs::absolute(named, ignored) : fs::path();
  const fs::path folder = self.parent_path();
  for (const char* place : {"plugin", RINGSIDE_PLUGIN_FOLDER, RINGSIDE_DEB_PLUGIN_FOLDER}) {
    const fs::path plugin = (folder / place / kPluginName).lexically_normal();
    if (fs::exists(plugin, ignored)) return plugin;
  }
  return {};
}

std::vector<PluginFile> plugin_family(const std::filesystem::path& plugin) {
  if (plugin.empty()) return {};
  std::vector<PluginFile> family{{plugin, api_of(plugin)}};
  if (plugin.filename() != kPluginName) return family;
  const std::string beginning = plugin.stem().string() + "-";
  std::error_code error;
  std::filesystem::directory_iterator entries(plugin.parent_path(), error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::filesystem::path& file = entries->path();
    if (file.extension() != ".so" || !file.stem().string().starts_with(beginning)) continue;
    if (const unsigned api = api_of(file); api > kOldestApi) family.push_back({file, api});
  }
  std::sort(family.begin(), family.end(),
            [](const PluginFile& a, const PluginFile& b) { return a.api > b.api; });
  return family;
}

}  // namespace ringside::launch
