#pragma once

#include <cstdint>
#include <string>

namespace ringside::exporters {

// As Rust's "{:?}" writes a Duration: "1.5s", "20ms", "3.25µs", "7ns".
[[nodiscard]] std::string rust_duration(std::uint64_t ns);

}  // namespace ringside::exporters
