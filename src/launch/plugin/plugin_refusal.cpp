#include "launch/plugin/plugin_refusal.h"

#include "base/clock.h"
#include "launch/plugin/plugin_choice.h"
#include "launch/qemu/qemu_version.h"

namespace ringside::launch {
namespace {

// A busy host takes seconds to start QEMU.
constexpr int kPolls = 2000;
constexpr std::uint64_t kPollNs = 5'000'000;

// The plugin makes the ring when it is installed.
bool ended_without_ring(const std::filesystem::path& ring, ChildProcess& child) {
  std::error_code ignored;
  for (int poll = 0; poll < kPolls; ++poll) {
    const bool has_ended = child.poll().has_value();
    if (std::filesystem::exists(ring, ignored)) return false;
    if (has_ended) return true;
    sleep_ns(kPollNs);
  }
  return false;
}

}  // namespace

NextStart after_refusal(const LaunchRequest& request, const LaunchInfo& info, ChildProcess& child) {
  if (info.plugin.empty() || !ended_without_ring(info.ring, child)) return NextStart::kNone;
  std::optional<QemuVersion> version;
  if (const auto asked = ask_qemu_version(info.program)) version = *asked;
  const PluginChoice anew =
      choose_plugin(info.program, version, plugin_family(request.plugin), PluginApiCache(), true);
  if (!anew.was_asked) return NextStart::kWithoutPlugin;
  return anew.file.path == info.plugin ? NextStart::kNone : NextStart::kByNewAnswer;
}

}  // namespace ringside::launch
