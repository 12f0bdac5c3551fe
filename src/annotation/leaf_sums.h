#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/detailed_profile.h"

namespace ringside::annotation {

struct Sum {
  profile::Weight weight = 0;
  std::uint64_t samples = 0;

  void add(const Sum& other) {
    weight += other.weight;
    samples += other.samples;
  }
};

// The samples whose innermost frame is one recorded frame, or several where an importer has
// recorded inlined functions as frames of their own.
struct Leaf {
  GuestVirt address;  // of the code that ran; 0 where the recording has a name instead
  profile::Kind kind = profile::Kind::kUnknown;
  const recording::ImageInfo* image = nullptr;  // null: no image is there
  profile::SymbolRange symbol;                  // of the first function
  // The function that was compiled there, then those inlined into it, outermost first.
  std::vector<profile::StringId> functions;
  profile::Place place;  // of the last of them
  Sum sum;
};

// The samples of a profile by where they were taken.
struct LeafSums {
  std::vector<Leaf> leaves;  // each with at least one sample
  Sum total;                 // of all that was sampled
  std::uint64_t extent = 0;  // of `total`: what shares are shares of
};

// Reads all samples. The first value of each source counts. `profile` must outlive the result.
[[nodiscard]] Result<LeafSums> sum_leaves(profile::DetailedProfile& profile);

// The names of all functions that called others when a sample was taken. It names every frame.
[[nodiscard]] std::set<profile::StringId> caller_names(profile::DetailedProfile& profile);

}  // namespace ringside::annotation
