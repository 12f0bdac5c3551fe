#include "launch/engine_choice.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>

#include "base/fd.h"

namespace ringside::launch {
namespace {

constexpr const char* kPluginName = "libringside-tcg.so";

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The first that can be: QEMU goes on to the next where one is not there.
std::string accelerator_that_runs(const QemuCommand& command, const QemuFacts& facts) {
  const auto tried = accelerators(command, facts.program);
  for (const std::string& name : tried)
    if (name != "kvm" || facts.kvm_is_usable) return name;
  return tried.front();
}

// Why the plugin cannot be; `better` says what would help. Nothing where it can.
struct Obstacle {
  std::string why;
  std::string better;
};
std::optional<Obstacle> obstacle_to_plugin(const QemuCommand& command, const QemuFacts& facts) {
  if (const std::string accelerator = accelerator_that_runs(command, facts); accelerator != "tcg")
    return Obstacle{
        fmt::format("the guest runs under {}, where the TCG plugin sees nothing", accelerator), ""};
  if (!facts.version)
    return Obstacle{"QEMU does not tell its version, and the TCG plugin needs 9.2", ""};
  if (*facts.version < kOldestForPlugin)
    return Obstacle{
        fmt::format("QEMU {} found; the TCG plugin needs 9.2", facts.version->to_string()),
        "with QEMU 9.2 or later the guest would not be stopped for samples (Debian 12: apt install "
        "-t bookworm-backports qemu-system-x86)"};
  if (command.has_one_thread() && (command.vcpus() > 1 || !facts.by_instructions))
    return Obstacle{
        "all vCPUs share one thread (-icount or thread=single), where QEMU's plugins cannot tell "
        "vCPUs apart, nor when one sleeps",
        "with a thread for each vCPU the guest would not be stopped for samples"};
  if (facts.plugin.empty())
    return Obstacle{fmt::format("the TCG plugin ({}) is not found", kPluginName),
                    fmt::format("install {}, or name it in $RINGSIDE_PLUGIN, and the guest is not "
                                "stopped for samples",
                                kPluginName)};
  return std::nullopt;
}

}  // namespace

std::vector<std::string> accelerators(const QemuCommand& command, const std::string& program) {
  std::vector<std::string> found;
  std::string of_machine;
  for (const QemuCommand::Option& option : command.options()) {
    if (!option.value) continue;
    const auto parts = split(*option.value, ',');
    if (option.name == "accel")
      for (const std::string& name : split(parts.front(), ':')) found.push_back(name);
    if (option.name != "machine" && option.name != "M") continue;
    for (const std::string& part : parts)
      if (part.starts_with("accel=")) of_machine = part.substr(6);
  }
  if (!found.empty()) {
    for (std::string& name : found)
      if (name.starts_with("accel=")) name.erase(0, 6);
    return found;
  }
  if (!of_machine.empty()) return split(of_machine, ':');
  if (command.has("enable-kvm")) return {"kvm"};
  if (program.ends_with("kvm")) return {"kvm", "tcg"};
  return {"tcg"};
}

Result<EngineChoice> choose_engine(const std::string& wanted, const QemuCommand& command,
                                   const QemuFacts& facts) {
  const auto obstacle = obstacle_to_plugin(command, facts);
  if (wanted == "tcg") {
    if (obstacle)
      return fail(ErrorCode::kUnsupported, "--engine tcg: {}{}{}", obstacle->why,
                  obstacle->better.empty() ? "" : "; ", obstacle->better);
    return EngineChoice{"tcg", kAskedFor, ""};
  }
  if (wanted == "qmp") {
    if (command.has("s") || command.has("gdb"))
      return fail(ErrorCode::kUnsupported,
                  "--engine qmp: the command line has a gdb stub already, and QEMU has one only; "
                  "use --engine gdb, or leave -s and -gdb out");
    return EngineChoice{"qmp", kAskedFor, ""};
  }
  if (wanted == "gdb") return EngineChoice{"gdb", kAskedFor, ""};
  if (obstacle) return EngineChoice{"gdb", obstacle->why, obstacle->better};
  return EngineChoice{
      "tcg", fmt::format("QEMU {} runs the guest under TCG", facts.version->to_string()), ""};
}

bool kvm_is_usable() { return UniqueFd(::open("/dev/kvm", O_RDWR | O_CLOEXEC)).valid(); }

std::filesystem::path find_plugin(const std::filesystem::path& self) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (const char* named = std::getenv("RINGSIDE_PLUGIN"); named != nullptr && *named != '\0')
    return fs::exists(named, ignored) ? fs::absolute(named, ignored) : fs::path();
  const fs::path folder = self.parent_path();
  const fs::path libraries = folder.parent_path() / "lib";
  std::vector<fs::path> places{folder / "plugin", libraries / "ringside"};
  fs::directory_iterator entries(libraries, ignored);
  for (; !ignored && entries != fs::directory_iterator(); entries.increment(ignored))
    places.push_back(entries->path() / "ringside");
  for (const fs::path& place : places)
    if (fs::exists(place / kPluginName, ignored)) return place / kPluginName;
  return {};
}

}  // namespace ringside::launch
