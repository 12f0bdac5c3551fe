#pragma once

#include <cstdint>
#include <string>

// How figures are written for people.
namespace ringside {

// "1,234,567".
[[nodiscard]] std::string format_count(std::uint64_t value);
// Share of `total` in percent with two digits after the point, without the sign; 0 of 0 is 0.
[[nodiscard]] std::string format_percent(std::uint64_t part, std::uint64_t total);

}  // namespace ringside
