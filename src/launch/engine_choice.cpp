#include "launch/engine_choice.h"

#include <fcntl.h>

#include <algorithm>

#include "base/fd.h"
#include "base/split.h"

namespace ringside::launch {
namespace {

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
  if (facts.plugin.file.path.empty()) return Obstacle{facts.plugin.why, facts.plugin.better};
  if (command.has_one_thread() && (command.vcpus() > 1 || !facts.by_instructions))
    return Obstacle{
        "all vCPUs share one thread (-icount or thread=single), where QEMU's plugins cannot "
        "distinguish vCPUs, nor learn when one sleeps",
        "with a thread for each vCPU the guest would not be stopped for samples"};
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

Result<EngineChoice> choose_engine(EngineKind wanted, const QemuCommand& command,
                                   const QemuFacts& facts) {
  const auto obstacle = obstacle_to_plugin(command, facts);
  if (wanted == EngineKind::kTcg) {
    if (obstacle)
      return fail(ErrorCode::kUnsupported, "--engine tcg: {}{}{}", obstacle->why,
                  obstacle->better.empty() ? "" : "; ", obstacle->better);
    return EngineChoice{EngineKind::kTcg, kAskedFor, ""};
  }
  if (wanted == EngineKind::kQmp) {
    if (command.has("s") || command.has("gdb"))
      return fail(ErrorCode::kUnsupported,
                  "--engine qmp: the command line has a gdb stub already, and QEMU has one only; "
                  "use --engine gdb, or leave -s and -gdb out");
    return EngineChoice{EngineKind::kQmp, kAskedFor, ""};
  }
  if (wanted == EngineKind::kGdb || wanted == EngineKind::kRing)
    return EngineChoice{wanted, kAskedFor, ""};
  if (facts.states && !facts.by_instructions)
    return EngineChoice{EngineKind::kGdb, "a stop shows all vCPUs at one moment, halted ones too",
                        ""};
  if (obstacle) return EngineChoice{EngineKind::kGdb, obstacle->why, obstacle->better};
  return EngineChoice{
      EngineKind::kTcg,
      facts.version ? fmt::format("QEMU {} runs the guest under TCG", facts.version->to_string())
                    : "QEMU runs the guest under TCG",
      ""};
}

bool kvm_is_usable() { return UniqueFd(::open("/dev/kvm", O_RDWR | O_CLOEXEC)).valid(); }

}  // namespace ringside::launch
