#include "importers/perf_data/sample_record.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/byte_cursor.h"
#include "formats/perf_data.h"

namespace ringside::importers::perf_data {

using namespace formats::perf_data;
namespace {

Words read_words(ByteCursor& cursor, std::uint64_t count) {
  if (count > cursor.remaining() / 8) {
    cursor.skip(~std::uint64_t{0});
    return {};
  }
  return Words(cursor.read_bytes(8 * count));
}

// struct read_format.
void read_counters(ByteCursor& cursor, std::uint64_t format, SampleRecord& sample) {
  const auto has = [format](std::uint64_t bit) { return (format & bit) != 0; };
  const std::uint64_t times =
      (has(read_format::kTimeEnabled) ? 8u : 0u) + (has(read_format::kTimeRunning) ? 8u : 0u);
  const std::uint64_t lost = has(read_format::kLost) ? 8 : 0;
  if (!has(read_format::kGroup)) {
    cursor.skip(8 + times + (has(read_format::kId) ? 8u : 0u) + lost);
    return;
  }
  sample.is_of_group = true;
  const auto count = cursor.read<std::uint64_t>();
  cursor.skip(times);
  for (std::uint64_t i = 0; i < count && !cursor.failed(); ++i) {
    GroupValue value;
    value.value = cursor.read<std::uint64_t>();
    if (has(read_format::kId)) value.id = cursor.read<std::uint64_t>();
    cursor.skip(lost);
    sample.group.push_back(value);
  }
}

void read_branches(ByteCursor& cursor, std::uint64_t branch_type, SampleRecord& sample) {
  const auto count = cursor.read<std::uint64_t>();
  if ((branch_type & branch::kHardwareIndex) != 0) cursor.skip(8);
  constexpr std::uint64_t kWords = 3;
  if (count > cursor.remaining() / (8 * kWords)) return cursor.skip(~std::uint64_t{0});
  sample.branches = read_words(cursor, kWords * count);
  if ((branch_type & branch::kCounters) != 0) cursor.skip(8 * count);
}

SampleRecord::RegisterSet read_registers(ByteCursor& cursor, std::uint64_t mask) {
  SampleRecord::RegisterSet set;
  set.abi = cursor.read<std::uint64_t>();
  if (set.abi != 0)
    set.values = read_words(cursor, static_cast<std::uint64_t>(std::popcount(mask)));
  return set;
}

// Fields before the call chain.
void read_head(ByteCursor& cursor, const Attribute& attribute, SampleRecord& sample) {
  if (attribute.has(sample::kIdentifier)) cursor.skip(8);
  if (attribute.has(sample::kIp)) sample.ip = cursor.read<std::uint64_t>();
  if (attribute.has(sample::kTid)) {
    sample.pid = cursor.read<std::uint32_t>();
    sample.tid = cursor.read<std::uint32_t>();
  }
  if (attribute.has(sample::kTime)) sample.time = cursor.read<std::uint64_t>();
  if (attribute.has(sample::kAddr)) cursor.skip(8);
  if (attribute.has(sample::kId)) cursor.skip(8);
  if (attribute.has(sample::kStreamId)) cursor.skip(8);
  if (attribute.has(sample::kCpu)) {
    sample.cpu = cursor.read<std::uint32_t>();
    cursor.skip(4);
  }
  // Where samples do not say, perf takes what it has asked for, be it a frequency.
  sample.period = attribute.has(sample::kPeriod) ? cursor.read<std::uint64_t>() : attribute.period;
  if (attribute.has(sample::kRead)) read_counters(cursor, attribute.read_format, sample);
}

// Fields behind the user's registers.
void read_tail(ByteCursor& cursor, const Attribute& attribute, SampleRecord& sample) {
  if (attribute.has(sample::kStackUser)) {
    const auto size = cursor.read<std::uint64_t>();
    const Bytes stack = cursor.read_bytes(size);
    const std::uint64_t used = size == 0 ? 0 : cursor.read<std::uint64_t>();
    sample.user_stack_asked = size;
    sample.user_stack = stack.first(std::min<std::uint64_t>(used, stack.size()));
  }
  if (!attribute.has(sample::kCgroup)) return;
  for (const std::uint64_t field :
       {sample::kWeight | sample::kWeightStruct, sample::kDataSource, sample::kTransaction})
    if (attribute.has(field)) cursor.skip(8);
  if (attribute.has(sample::kRegsIntr))
    static_cast<void>(read_registers(cursor, attribute.interrupt_registers));
  if (attribute.has(sample::kPhysAddr)) cursor.skip(8);
  sample.cgroup = cursor.read<std::uint64_t>();
  // Behind it: sizes of pages, and what the trace unit has written.
}

}  // namespace

bool read_sample(Bytes body, const Attribute& attribute, SampleRecord& sample) {
  std::vector<GroupValue> group = std::move(sample.group);
  group.clear();
  sample = SampleRecord();
  sample.group = std::move(group);
  ByteCursor cursor(body);
  read_head(cursor, attribute, sample);
  if (attribute.has(sample::kCallchain)) {
    const auto count = cursor.read<std::uint64_t>();
    sample.callchain = read_words(cursor, count);
    sample.has_callchain = true;
  }
  if (attribute.has(sample::kRaw)) cursor.skip(cursor.read<std::uint32_t>());
  if (attribute.has(sample::kBranchStack)) read_branches(cursor, attribute.branch_type, sample);
  if (attribute.has(sample::kRegsUser))
    sample.user_registers = read_registers(cursor, attribute.user_registers);
  read_tail(cursor, attribute, sample);
  return !cursor.failed();
}

}  // namespace ringside::importers::perf_data
