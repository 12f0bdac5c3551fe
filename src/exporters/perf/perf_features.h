#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exporters/perf/perf_images.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters::perf {

// The id that samples of a source have, counted as in DetailedProfile::sources().
[[nodiscard]] constexpr std::uint64_t event_id(std::size_t source) { return source + 1; }

// perf_event_attr of each source, as bytes.
[[nodiscard]] std::vector<std::string> attributes_of(const profile::DetailedProfile& profile);

// Bits of perf.data's header: what else it has, in the order of the numbers.
enum class FeatureId : std::uint32_t {
  kBuildIds = 2,
  kHostname = 3,
  kRelease = 4,
  kVersion = 5,
  kArch = 6,
  kProcessors = 7,
  kCommandLine = 11,
  kEvents = 12,
  kSampleTime = 21,
};
struct Feature {
  FeatureId id;
  std::string bytes;
};

// All features but build ids and times, which need images and samples; in their order.
[[nodiscard]] std::vector<Feature> features_of(const profile::DetailedProfile& profile,
                                               const std::vector<std::string>& attributes);
// A source's name.
[[nodiscard]] std::string event_name(const profile::DetailedProfile& profile, std::size_t source);
// A record of one image, of which the feature kBuildIds is made.
[[nodiscard]] std::string build_id_record(const PerfImage& image);

}  // namespace ringside::exporters::perf
