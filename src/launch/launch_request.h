#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "launch/engine_kind.h"

namespace ringside::launch {

// ringside's requests for the QEMU that its shim will start, left in the private folder.
struct LaunchRequest {
  EngineKind engine = EngineKind::kAuto;
  std::string plugin;          // libringside-tcg.so; empty: not found, or not to be used
  bool plugin_failed = false;  // a QEMU that was given it has ended at once
  bool taps_serial = false;    // --after, --until: the serial port must be readable
  bool deterministic = false;
  bool states = false;     // of all vCPUs at one moment, halted ones too
  std::uint64_t seed = 1;  // of the guest's random numbers, with `deterministic`

  [[nodiscard]] Result<void> write(const std::filesystem::path& folder) const;
  [[nodiscard]] static Result<LaunchRequest> read(const std::filesystem::path& folder);
};

}  // namespace ringside::launch
