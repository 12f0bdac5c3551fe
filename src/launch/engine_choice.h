#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/engine_kind.h"
#include "launch/plugin/plugin_choice.h"
#include "launch/qemu/qemu_command.h"
#include "launch/qemu/qemu_version.h"

namespace ringside::launch {

// Facts about a QEMU before it is started.
struct QemuFacts {
  std::string program;                 // as it is started; QEMU's default depends on its name
  std::optional<QemuVersion> version;  // nothing: it does not say
  bool kvm_is_usable = false;          // /dev/kvm can be opened
  PluginChoice plugin;                 // the one that it loads
  bool by_instructions = false;        // samples are to be taken by them, not by the host's time
  bool states = false;                 // LaunchRequest::states
};

// EngineChoice::why where the user has chosen.
inline constexpr const char* kAskedFor = "asked for";

struct EngineChoice {
  EngineKind engine = EngineKind::kGdb;
  std::string why;
  std::string better;  // what would make a better engine possible; empty where nothing would
};

// The engine for a command line that is about to be started: the TCG plugin where QEMU loads one
// and runs the guest under TCG, else gdb, and for states gdb. Error kUnsupported, with the reason,
// where the wanted one cannot be.
[[nodiscard]] Result<EngineChoice> choose_engine(EngineKind wanted, const QemuCommand& command,
                                                 const QemuFacts& facts);

// The accelerators that QEMU would try, in order: -accel, else -machine accel=, else -enable-kvm,
// else by the program's name ("kvm" tries KVM first; system/vl.c, configure_accelerators).
[[nodiscard]] std::vector<std::string> accelerators(const QemuCommand& command,
                                                    const std::string& program);

// Whether this user can open /dev/kvm.
[[nodiscard]] bool kvm_is_usable();

}  // namespace ringside::launch
