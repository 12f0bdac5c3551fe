#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "importers/perf_data/chunks.h"
#include "importers/perf_data/record_reader.h"

namespace ringside::importers::perf_data {

// Puts records into the order of time. perf writes what each processor has gathered one behind the
// other, in rounds: no record is later than one of the round after the next (tools/perf/util/
// ordered-events.h). So records leave here when the second FINISHED_ROUND behind them has come.
// Where there are none of those, or rounds are very long, the older half leaves when too many are
// here, whatever comes later.
class TimeOrder {
 public:
  using Deliver = std::function<Result<void>(const RawRecord&)>;

  TimeOrder(Chunks& chunks, Deliver deliver) : chunks_(chunks), deliver_(std::move(deliver)) {}

  [[nodiscard]] Result<void> add(std::uint64_t time, const RawRecord& record);
  [[nodiscard]] Result<void> finish_round();
  // All that is still here.
  [[nodiscard]] Result<void> finish();

 private:
  static constexpr std::size_t kMostRecords = 1u << 20;  // of 24 bytes each
  static constexpr std::size_t kMostBytes = 64u << 20;   // of chunks

  struct Entry {
    std::uint64_t time;
    const std::byte* at;  // of the record's header
    std::uint32_t chunk;
    bool operator<(const Entry& other) const { return time < other.time; }
  };
  void sort();
  // The first ones.
  [[nodiscard]] Result<void> leave(std::size_t count);

  Chunks& chunks_;
  Deliver deliver_;
  std::vector<Entry> entries_;
  std::vector<Entry> merged_;      // reused
  std::vector<std::size_t> runs_;  // where ascending runs of entries_ begin
  std::size_t sorted_ = 0;         // of entries_, at the front
  std::uint64_t round_limit_ = 0;  // of what leaves at the end of this round
  std::uint64_t highest_ = 0;      // time so far
};

}  // namespace ringside::importers::perf_data
