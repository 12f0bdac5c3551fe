#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside::launch {

// Runs `program` (looked up in PATH) with `arguments` and returns what it prints to both streams
// until it closes them, the first 4096 bytes; how it ends does not matter. kTimeout where it does
// not end in time: it is then killed. kNotFound where there is no such program. It runs in `folder`
// where that is not empty.
[[nodiscard]] Result<std::string> capture_output(const std::string& program,
                                                 const std::vector<std::string>& arguments,
                                                 std::chrono::milliseconds timeout,
                                                 const std::string& folder = {});

}  // namespace ringside::launch
