#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace ringside::app {

// "0,2-3" as perf's -C takes it. Error kUsage.
[[nodiscard]] Result<std::vector<VcpuId>> parse_cpu_list(const std::string& text);

}  // namespace ringside::app
