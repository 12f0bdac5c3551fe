#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace ringside::app {

// "0,2-3" as perf's -C takes it. Error kUsage.
[[nodiscard]] Result<std::vector<VcpuId>> parse_cpu_list(const std::string& text);

// A mask as Asterinas' profiler takes it: bit n, from the lowest, is of vCPU n. Decimal, or
// hexadecimal with "0x" in front; up to 128 bits, not 0. Error kUsage.
[[nodiscard]] Result<std::vector<VcpuId>> parse_cpu_mask(const std::string& text);

}  // namespace ringside::app
