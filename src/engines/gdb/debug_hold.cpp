#include "engines/gdb/debug_hold.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ringside::engines::gdb {
namespace {

constexpr std::array<const char*, 4> kNames{"none", "running", "stopped", "half-packet"};

}  // namespace

HoldPoint hold_point_from_environment() {
  const char* const wanted = std::getenv("RINGSIDE_DEBUG_HOLD");
  if (wanted == nullptr) return HoldPoint::kNone;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (std::string_view(wanted) == kNames[i]) return static_cast<HoldPoint>(i);
  }
  return HoldPoint::kNone;
}

void hold_for_ever(HoldPoint point) {
  // The one place where a library writes to a stream: a test waits for this line.
  std::fprintf(stderr, "ringside-debug: holding %s\n", kNames[static_cast<std::size_t>(point)]);
  std::fflush(stderr);
  for (;;) ::pause();
}

}  // namespace ringside::engines::gdb
