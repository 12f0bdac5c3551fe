#pragma once

#include <cstdint>
#include <optional>

#include "arch/registers.h"
#include "base/types.h"
#include "importers/perf_data/sample_record.h"

namespace ringside::importers::perf_data {

struct UserState {
  Arch arch = Arch::kUnknown;
  arch::Registers registers;
};

// The registers of user code on a machine of that architecture: of 32-bit code where a sample says
// so. `mask` says which of the kernel's registers (arch/*/include/uapi/asm/perf_regs.h) there are.
// Nothing where the sample has none.
[[nodiscard]] std::optional<UserState> user_state(const SampleRecord::RegisterSet& set,
                                                  std::uint64_t mask, Arch machine);

}  // namespace ringside::importers::perf_data
