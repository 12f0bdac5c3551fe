#include "launch/plugin/plugin_choice.h"

#include <algorithm>

#include "launch/qemu/qemu_binary.h"

namespace ringside::launch {
namespace {

constexpr QemuVersion kFirstUnknown{11, 2, 0};

bool is_complete(const PluginApi& api) {
  return api.oldest != 0 && api.newest != PluginApi().newest;
}

bool accepts_one(const PluginApi& api, const std::vector<PluginFile>& family) {
  return std::any_of(family.begin(), family.end(),
                     [&](const PluginFile& plugin) { return api.accepts(plugin.api); });
}

Result<PluginApi> ask(const std::filesystem::path& qemu, const std::vector<PluginFile>& family,
                      const PluginApiCache& cache, bool anew) {
  const auto known = anew ? std::nullopt : cache.find(qemu);
  // A bound that came with a refusal says nothing of a plugin that was not there then.
  if (known && (is_complete(*known) || !accepts_one(*known, family))) return *known;
  auto api = ask_plugin_api(qemu, family);
  if (api) cache.keep(qemu, *api);
  return api;
}

// By QEMU_PLUGIN_VERSION and QEMU_PLUGIN_MIN_VERSION of its releases.
std::optional<PluginApi> usual_api(const std::optional<QemuVersion>& version) {
  if (!version || *version >= kFirstUnknown) return std::nullopt;
  if (*version >= QemuVersion{11, 1, 0}) return PluginApi{7, 7};
  if (*version >= QemuVersion{11, 0, 0}) return PluginApi{6, 6};
  return PluginApi{4, 4};
}

PluginChoice none(std::string why, std::string better = {}) {
  return {{}, std::move(why), std::move(better), false};
}

PluginChoice none_accepted(const std::string& qemu, const PluginApi& api,
                           const std::vector<PluginFile>& family) {
  if (api.newest == 0) return none(qemu + " is built without plugins");
  if (api.oldest > family.front().api)
    return none(fmt::format("{} loads plugins for version {} of its API and later, and the newest "
                            "TCG plugin here is for {}",
                            qemu, api.oldest, family.front().api),
                "with a newer ringside the guest would not be stopped for samples");
  return none(fmt::format("{} loads no plugin for version {} of its API", qemu, family.back().api));
}

}  // namespace

PluginChoice choose_plugin(const std::string& program, const std::optional<QemuVersion>& version,
                           const std::vector<PluginFile>& family, const PluginApiCache& cache,
                           bool anew) {
  if (version && *version < kOldestForPlugin)
    return none(fmt::format("QEMU {} found; the TCG plugin needs 9.2", version->to_string()),
                "with QEMU 9.2 or later the guest would not be stopped for samples (Debian 12: apt "
                "install -t bookworm-backports qemu-system-x86)");
  if (family.empty())
    return none(fmt::format("the TCG plugin ({}) is not found", kPluginName),
                fmt::format("install {}, or name it in $RINGSIDE_PLUGIN, and the guest is not "
                            "stopped for samples",
                            kPluginName));
  const std::string qemu = version ? "QEMU " + version->to_string() : "this QEMU";
  std::optional<PluginApi> api;
  if (const auto binary = find_qemu_binary(program)) {
    if (auto asked = ask(*binary, family, cache, anew))
      api = *asked;
    else if (asked.error().code == ErrorCode::kUnsupported)
      return none(fmt::format("{} does not load the TCG plugin ({})", qemu, asked.error().message));
  }
  const bool was_asked = api.has_value();
  if (!api) api = usual_api(version);
  if (!api)
    return none(version ? fmt::format("{} is newer than this ringside, and which plugins it loads "
                                      "cannot be asked of '{}'",
                                      qemu, program)
                        : "QEMU does not report its version, and the TCG plugin needs 9.2");
  const auto accepted = std::find_if(family.begin(), family.end(), [&](const PluginFile& plugin) {
    return api->accepts(plugin.api);
  });
  PluginChoice choice = accepted == family.end() ? none_accepted(qemu, *api, family)
                                                 : PluginChoice{*accepted, "", "", false};
  choice.was_asked = was_asked;
  return choice;
}

}  // namespace ringside::launch
