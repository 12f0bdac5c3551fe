#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exporters/sink.h"
#include "profile/detailed_profile.h"
#include "views/allocations/allocation_rows.h"
#include "views/allocations/allocations.h"

// The allocations of a recording as a table for each allocator. Nothing is summed up over
// allocators: one may have its memory from another.
namespace ringside::exporters {

struct AllocationReportOptions {
  views::AllocationTableOptions table;
  std::size_t width = 0;                  // cells of a line; 0: nothing is cut
  std::optional<std::string> older_than;  // as it was given: there are columns of older blocks
  std::optional<std::string> since;       // the same: there are columns of growth
};

// For people: a summary of each allocator, and its table.
[[nodiscard]] Result<void> write_allocation_text(profile::DetailedProfile& profile,
                                                 const std::vector<views::Allocator>& allocators,
                                                 const AllocationReportOptions& options,
                                                 Sink& sink);
// For programs: one table, a row of which has its allocator's name. docs/memory.md has the columns.
[[nodiscard]] Result<void> write_allocation_csv(profile::DetailedProfile& profile,
                                                const std::vector<views::Allocator>& allocators,
                                                const AllocationReportOptions& options, Sink& sink);
// One object: docs/memory.md has its members.
[[nodiscard]] Result<void> write_allocation_json(profile::DetailedProfile& profile,
                                                 const std::vector<views::Allocator>& allocators,
                                                 const AllocationReportOptions& options,
                                                 Sink& sink);

}  // namespace ringside::exporters
