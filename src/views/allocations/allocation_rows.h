#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/detailed_profile.h"
#include "views/allocations/allocations.h"
#include "views/allocations/block_value.h"

namespace ringside::views {

// The difference between the rows of a table of allocations.
enum class AllocationGroup : std::uint8_t {
  kFunction,  // the function that has allocated
  kStack,
};

struct AllocationRow {
  std::vector<profile::FrameId> frames;  // outermost first: a stack, or one function
  BlockSums sums;
};

struct AllocationTable {
  std::vector<AllocationRow> rows;  // the largest first
  std::size_t rows_left_out = 0;    // that are smaller than these
  BlockSums left_out;               // the sums of those
  BlockSums sum;                    // of all
};

struct AllocationTableOptions {
  AllocationGroup group = AllocationGroup::kFunction;
  BlockValue value = BlockValue::kLive;  // that rows are in the order of
  BlockMeasure measure = BlockMeasure::kSize;
  // Functions that only pass on what others ask for, with * for any characters, as kPassing.
  std::vector<std::string> passing;
  bool names_have_places = false;  // lines or addresses, behind a space
  std::size_t maximum_rows = 0;    // 0: all
};

// Functions of languages' libraries that allocate for their callers.
inline constexpr const char* kPassing[] = {
    "__rust_*", "__rdl_*",  "__rg_*",       "alloc::*",      "<alloc::*",
    "core::*",  "<core::*", "hashbrown::*", "<hashbrown::*", "operator new*"};

// The innermost function of a stack is the allocator's. The function that has allocated is the
// first one behind it that is not passing; the outermost where all are. All memory of an allocator
// that its profile's filter wants.
[[nodiscard]] AllocationTable make_allocation_table(profile::DetailedProfile& profile,
                                                    const Allocator& allocator,
                                                    const AllocationTableOptions& options);

// A row's functions, outermost first, with semicolons between them.
[[nodiscard]] std::string name_of(const AllocationRow& row, const profile::Profile& profile);

// The frames of a group's stack, outermost first.
[[nodiscard]] std::vector<profile::FrameId> frames_of(profile::DetailedProfile& profile,
                                                      std::uint32_t group);

}  // namespace ringside::views
