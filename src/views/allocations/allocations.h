#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/detailed_profile.h"
#include "recording/sources.h"
#include "views/allocations/live_set.h"
#include "views/allocations/time_span.h"

namespace ringside::views {

// The stack, in LiveSet, of all events that the profile's filter leaves out.
inline constexpr std::uint32_t kOtherStacks = 0xffffffff;

// One allocator of a recording, and what became of its blocks. The stacks of `blocks` are the
// profile's groups, or kOtherStacks.
struct Allocator {
  std::string name;  // as profile::sanitize() makes it; "[unnamed]" where it is empty
  recording::WeightUnit unit = recording::WeightUnit::kBytes;  // of sizes
  recording::Clock clock;                                      // of times
  std::uint64_t end = 0;  // of the last one of all allocators with that clock: ages count to it
  LiveSet blocks;
};

struct AllocationOptions {
  std::vector<std::string> allocators;  // as Allocator::name has them; empty: all
  std::optional<TimeSpan> older_than;   // ages of BlockSums::older are larger
  std::optional<TimeSpan> since;        // from the recording's start: BlockSums::before
  bool in_events = false;               // times are numbers of the allocator's own events, from 0
};

// Follows the allocations of a profile, in one reading of its recording. Events that its filter
// leaves out are followed, too: who frees a block need not be who allocated it. The allocators are
// in the order in which the recording describes them.
//
// Allocations are events of a source of the kind kAllocations with the fields that
// recording::GuestEventTables has. Errors: kNotFound where there are none; kUsage for an allocator
// that is not there, with a list, and for times that go with none of the clocks.
[[nodiscard]] Result<std::vector<Allocator>> follow_allocations(profile::DetailedProfile& profile,
                                                                const AllocationOptions& options);

}  // namespace ringside::views
