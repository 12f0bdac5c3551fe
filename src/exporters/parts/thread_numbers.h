#pragma once

#include <cstdint>
#include <string_view>

#include "profile/detailed_profile.h"

namespace ringside::exporters {

inline constexpr std::uint32_t kNobody = 0xffffffff;  // as a pid, tid or cpu: there is none

// A thread as perf and ftrace have it.
struct ThreadNumbers {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  bool operator==(const ThreadNumbers&) const = default;
};

// The thread of an owner's samples. Nobody's are of kNobody; idle vCPUs are pid 0, the swapper.
[[nodiscard]] ThreadNumbers thread_of(const profile::Owner& owner);
[[nodiscard]] std::string_view comm_of(const profile::DetailedProfile& profile,
                                       const profile::Owner& owner);

}  // namespace ringside::exporters
