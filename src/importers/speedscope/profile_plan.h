#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/speedscope/speedscope_file.h"
#include "recording/samples.h"

namespace ringside::importers::speedscope {

// A unit of the format as ringside has it.
struct Unit {
  recording::WeightUnit unit = recording::WeightUnit::kSamples;
  long double factor = 1;  // of ringside's in one of the file's
  [[nodiscard]] bool is_time() const { return unit == recording::WeightUnit::kNanoseconds; }
};
// Null for a unit that the format does not have.
[[nodiscard]] std::optional<Unit> unit_named(std::string_view name);

// A profile that is recorded, and whose samples it has.
struct PlannedProfile {
  const Profile* profile = nullptr;
  Unit unit;
  std::uint32_t source = 1;
  std::optional<std::uint32_t> pid;
  std::uint32_t tid = 0;  // where there is a pid
  std::string thread;     // its name; empty where there is no pid
  VcpuId vcpu = recording::kNoVcpu;
};

// The fate of each of a file's profiles.
struct Plan {
  std::vector<recording::Source> sources;  // without ids
  std::vector<PlannedProfile> profiles;
  Faults left_out;       // profiles
  bool has_all = false;  // threads are left out: the profiles of all have more
};

// A profile "all, …" at the beginning that is the sum of the threads' profiles is not counted
// twice. Ringside's own files have one, also where speedscope exported them again, and another
// "all, …" for each other value.
[[nodiscard]] Plan plan_profiles(const File& file);

[[nodiscard]] bool is_of_ringside(const File& file);

}  // namespace ringside::importers::speedscope
