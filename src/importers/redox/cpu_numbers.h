#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "importers/format.h"

namespace ringside::importers::redox {

// The number at the end of a file's name, before what is behind its last dots: 3 of "profiling-3",
// "ring.3.bin".
[[nodiscard]] std::optional<VcpuId> cpu_number_of(std::string_view name);

// The CPU of each input: by its name, else its place among the inputs. kUsage where two are of one.
[[nodiscard]] Result<std::vector<VcpuId>> cpu_numbers(std::span<const Input> inputs);

}  // namespace ringside::importers::redox
