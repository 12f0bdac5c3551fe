#include <cstdint>
#include <cstdlib>
#include <span>

#include "profile/detailed_profile.h"
#include "recording/block.h"
#include "recording/reader.h"
#include "views/allocations/allocation_profile.h"
#include "views/allocations/allocation_rows.h"
#include "views/allocations/allocations.h"

namespace {

using namespace ringside;

void check(bool good) {
  if (!good) std::abort();
}

void check_sums(const views::BlockSums& sums) {
  check(sums.allocated.count == sums.freed.count + sums.replaced.count + sums.live.count);
  check(sums.allocated.size == sums.freed.size + sums.replaced.size + sums.live.size);
  check(sums.older.count <= sums.live.count && sums.older.size <= sums.live.size);
  check(sums.ages.count == sums.live.count && sums.lifetimes.count == sums.freed.count);
}

void check_allocator(profile::DetailedProfile& profile, const views::Allocator& allocator,
                     std::uint8_t option) {
  const views::BlockSums total = allocator.blocks.total();
  check_sums(total);
  check(total.peak.size >= total.live.size && total.peak.size <= total.allocated.size);
  for (const views::LiveSet::Stack& stack : allocator.blocks.stacks()) check_sums(stack.sums);
  views::AllocationTableOptions options;
  options.group = static_cast<views::AllocationGroup>(option & 1);
  const views::AllocationTable table = make_allocation_table(profile, allocator, options);
  views::BlockSums sum;
  for (const views::AllocationRow& row : table.rows) sum += row.sums;
  check(sum.live == table.sum.live && sum.allocated == table.sum.allocated);
  const views::AllocationProfileOptions of{
      .value = static_cast<views::BlockValue>((option >> 1) % views::kBlockValueNames.size()),
      .maestro_names = (option & 0x80) != 0};
  const profile::Profile made = make_allocation_profile(profile, allocator, of);
  check(made.weight_of(wire::Disposition::kSampled) ==
        weight_of(table.sum, of.value, views::BlockMeasure::kSize));
}

}  // namespace

// The input is the records of a block, and a byte of options behind them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty() || bytes.size() > recording::kMaxBlockSize) return 0;
  static recording::BlockEncoder encoder;
  const std::string file =
      recording::file_header() + encoder.encode(recording::BlockKind::kRecords, 0,
                                                {reinterpret_cast<const char*>(data), size - 1});
  auto reader = recording::Reader::open(as_bytes(file), "fuzz");
  if (!reader) return 0;
  profile::NoNames names;
  profile::BuildOptions build;
  build.every_source = true;
  const auto profile = profile::DetailedProfile::read(*reader, names, build);
  if (!profile) return 0;
  views::AllocationOptions options;
  options.older_than = views::TimeSpan{3, 0};
  options.since = views::TimeSpan{5, 0};
  const auto allocators = follow_allocations(**profile, options);
  if (!allocators) return 0;
  for (const views::Allocator& allocator : *allocators)
    check_allocator(**profile, allocator, data[size - 1]);
  return 0;
}
