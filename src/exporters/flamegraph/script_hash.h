#pragma once

#include <string>

namespace ringside::exporters {

// SHA-256 of the script that every flame graph has, in base64: what Content-Security-Policy takes
// behind 'sha256-'.
[[nodiscard]] std::string flamegraph_script_hash();

}  // namespace ringside::exporters
