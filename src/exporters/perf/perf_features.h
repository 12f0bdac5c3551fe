#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exporters/perf/perf_images.h"
#include "formats/perf_data.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters::perf {

// The id that samples of a source have, counted as in DetailedProfile::sources().
[[nodiscard]] constexpr std::uint64_t event_id(std::size_t source) { return source + 1; }

// perf_event_attr of each source, as bytes.
[[nodiscard]] std::vector<std::string> attributes_of(const profile::DetailedProfile& profile);

// One of what perf.data has besides records, in the order of the numbers.
struct Feature {
  formats::perf_data::FeatureId id;
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
