#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/open_profile.h"
#include "base/result.h"
#include "exporters/allocations/allocation_report.h"
#include "exporters/flamegraph/svg_flamegraph.h"
#include "views/allocations/allocation_profile.h"
#include "views/allocations/allocations.h"

namespace ringside::app {

// Which allocations of an input are looked at.
struct AllocationRequest {
  ReaderSettings settings;
  std::vector<std::string> allocators;  // their names; empty: all
  std::string older_than;               // as parse_time_span() reads it; may be empty
  std::string since;                    // the same
  bool in_events = false;               // times are numbers of each allocator's events
};

struct OpenAllocations {
  std::unique_ptr<OpenDetails> details;
  std::vector<views::Allocator> allocators;
};

// Reads a recording, or imports another input, and follows its allocations. Says on standard error
// what is damaged.
[[nodiscard]] Result<OpenAllocations> open_allocations(const AllocationRequest& request);

// Says on standard error what the recording warns of, and which names are missing. To be called
// when all frames have been named.
void say_warnings(const OpenAllocations& opened);

// The value that is shown where the user names none, and the one that `name` names. Error kUsage
// where the request lacks the time that it needs.
[[nodiscard]] Result<views::BlockValue> chosen_value(const std::string& name,
                                                     const AllocationRequest& request);

struct AllocationPictures {
  std::string folder;  // it is made where there is none
  views::AllocationProfileOptions profile;
  exporters::FlamegraphOptions picture;  // an empty title and subtitle say what is shown
};

// Draws a flame graph of each allocator, mem-ALLOCATOR.svg, and says so on standard error.
[[nodiscard]] Result<void> draw_allocations(const AllocationRequest& request,
                                            const AllocationPictures& pictures);

// The names of the pictures: of no two allocators the same, and without what no name of a file may
// have. `allocators` are names as Allocator::name has them.
[[nodiscard]] std::vector<std::string> picture_names(const std::vector<std::string>& allocators);

}  // namespace ringside::app
