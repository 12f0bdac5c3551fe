#pragma once

#include <optional>
#include <string>
#include <vector>

#include "importers/firefox/profile.h"
#include "recording/samples.h"

namespace ringside::importers::firefox {

// In ringside's own files, the view of its ticks that samples belong to.
enum class View : std::uint8_t { kOnly, kVcpus, kThreads };

// Samples of one kind of a thread, and whose they are in the recording.
struct Series {
  const Samples* samples = nullptr;
  const Tables* tables = nullptr;
  std::uint32_t source = 1;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  VcpuId vcpu = recording::kNoVcpu;
  View view = View::kOnly;
};

// A thread or, where the tid is 0, a process.
struct Name {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::string text;
};

struct Plan {
  std::vector<recording::Source> sources;  // without ids
  std::vector<Series> series;
  std::vector<Name> names;
};

[[nodiscard]] Plan plan_threads(const Profile& profile);

}  // namespace ringside::importers::firefox
