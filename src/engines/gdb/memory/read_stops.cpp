#include "engines/gdb/memory/read_stops.h"

#include <algorithm>

#include "base/clock.h"

namespace ringside::engines::gdb {
namespace {

constexpr std::uint64_t kRunsWhileSampled = 3;  // so many times as long as it stood
constexpr std::uint64_t kLongestRestNs = 50'000'000;

}  // namespace

Result<void> ReadStops::wait() {
  const std::uint64_t stood = last_.to_ns - last_.from_ns;
  const std::uint64_t rest = std::min(stood * (turns_ ? kRunsWhileSampled : 1), kLongestRestNs);
  const std::uint64_t from = last_.to_ns + rest;
  if (turns_ != nullptr) return turns_->wait(last_, from);
  if (const std::uint64_t now = monotonic_ns(); now < from) sleep_ns(from - now);
  return {};
}

void ReadStops::count(std::uint64_t since_ns, std::uint64_t length_ns) {
  last_ = {since_ns, since_ns + length_ns};
  const std::uint64_t stood = last_.to_ns - last_.from_ns;
  ++pauses_.count;
  pauses_.total_ns += stood;
  pauses_.longest_ns = std::max(pauses_.longest_ns, stood);
}

}  // namespace ringside::engines::gdb
