#pragma once

#include <optional>
#include <string>

#include "app/settings/guest_system.h"
#include "base/result.h"
#include "launch/launch_request.h"
#include "session/sampling/options.h"

namespace ringside::app {

// Where the builds of Emerald and of Asterinas have a QEMU listen.
inline constexpr const char* kQmpSocket = "./qmp-socket";
inline constexpr const char* kOsdkSocket = ".osdk-gdb-socket";

// Options for sampling a running guest: how to reach it, what to sample, when to stop.
struct SamplingSettings {
  std::string gdb;
  bool is_osdks = false;  // the stub is named as Asterinas' OSDK does, whose intervals are seconds
  std::string qmp;
  std::string ring;
  std::string serial;         // a line that a guest drains its rings to
  std::string redox_rings;    // where a kernel has Redox' rings
  std::string context_names;  // a file of lines "id name", of the contexts in those
  std::string cpu_frequency;  // GHz, of the guest's counter; empty: as the guest says
  launch::EngineKind engine = launch::EngineKind::kAuto;
  std::string kernel;
  std::string symbols;
  std::string load_bias;
  GuestSystemSettings system;
  std::string interval;  // as parse_interval() reads it; empty: the default
  std::optional<double> frequency;
  std::optional<double> duration_s;
  std::optional<std::uint64_t> samples;
  std::optional<std::uint64_t> rounds;  // only profile has an option for it
  double delay_s = 0;
  std::string after;
  std::string until;
  bool kernel_only = false;
  bool user_only = false;
  bool halted = false;  // only profile has an option for it
  std::string cpus;
  bool states = false;  // only profile takes them: SamplingOptions::states
  bool no_jitter = false;
  bool no_stop = false;
  bool leave_stub = false;  // that the guest's user has opened
  bool deterministic = false;
  std::uint64_t seed = 1;
  std::optional<std::uint32_t> stack_bytes;
  bool keep_captures = false;  // only record has an option for it
  bool one_shot = false;       // only profile has one
  bool host_priority = false;  // QEMU gets more of the host: launch::HostPriority
  bool then_quit = false;
  bool verbose = false;
  bool each_sample = false;  // has a line of its own; only profile -v

  // Fills in what follows from other options, once all have been read. `has_command`: QEMU's
  // command line stands behind --.
  void settle(bool has_command);
  [[nodiscard]] launch::LaunchRequest launch_request() const;
  // Attaches to a guest that runs already.
  [[nodiscard]] bool attaches() const {
    return !gdb.empty() || !qmp.empty() || !ring.empty() || !serial.empty();
  }
  // Errors: kUsage, for values that make no sense together.
  [[nodiscard]] Result<session::SamplingOptions> options() const;
};

}  // namespace ringside::app
