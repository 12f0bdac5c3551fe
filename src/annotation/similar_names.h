#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::annotation {

// Up to five of `names` that may be meant by `asked`, the most similar first, then those with more
// samples: names that contain it, or that it contains, and names in which few letters differ.
// `names` maps each to its weight.
[[nodiscard]] std::vector<std::string> similar_names(
    std::string_view asked, const std::map<std::string, std::uint64_t>& names);

}  // namespace ringside::annotation
