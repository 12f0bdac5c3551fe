#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Where the samples and events of a recording come from, and what their numbers are.
namespace ringside::recording {

// kCount is of events; kSamples of a profile that does not say what its counts are.
enum class WeightUnit : std::uint8_t {
  kTicks,
  kInstructions,
  kNanoseconds,
  kBytes,
  kCount,
  kSamples,
  kPages
};
inline constexpr WeightUnit kLastWeightUnit = WeightUnit::kPages;
[[nodiscard]] std::string_view name_of(WeightUnit unit);

enum class ClockKind : std::uint8_t {
  kHostMonotonic,  // CLOCK_MONOTONIC of the host
  kGuestTime,      // as QEMU's virtual clock has it
  kGuestCounter,   // a vCPU's time stamp counter
  kInstructions,   // that the guest has run
  kEventNumber,    // 0, 1, 2, … in the order of the events
};
inline constexpr ClockKind kLastClockKind = ClockKind::kEventNumber;

// Clock 0 needs no record: nanoseconds of the host's CLOCK_MONOTONIC since
// Header::start_monotonic_ns.
inline constexpr std::uint32_t kHostClock = 0;

struct Clock {
  std::uint32_t id = 0;  // given by the writer
  ClockKind kind = ClockKind::kHostMonotonic;
  std::string name;
  std::uint64_t frequency = 0;  // ticks a second; 0: it does not count time, or not evenly
  bool operator==(const Clock&) const = default;
};

// The moment at which one clock showed `at` and another one `other_at`.
struct ClockTie {
  std::uint32_t clock = 0;
  std::uint64_t at = 0;
  std::uint32_t other = 0;
  std::uint64_t other_at = 0;
  bool operator==(const ClockTie&) const = default;
};

enum class SourceKind : std::uint8_t {
  kCpu,          // what vCPUs run, at ticks
  kOffCpu,       // how long threads did not run
  kAllocations,  // of memory
  kProbe,        // that code ran
  kOther,
};
inline constexpr SourceKind kLastSourceKind = SourceKind::kOther;

// One of the numbers that each sample of a source has.
struct ValueType {
  std::string name;  // "count", "bytes"
  WeightUnit unit = WeightUnit::kTicks;
  std::uint64_t scale = 1;  // one in the recording stands for so many units
  bool operator==(const ValueType&) const = default;
};

// A source gives samples of one kind, or events.
struct Source {
  std::uint32_t id = 0;  // given by the writer
  std::string name;      // "cpu", "allocations"
  SourceKind kind = SourceKind::kCpu;
  std::uint32_t clock = kHostClock;  // of its times
  std::uint64_t period = 0;          // mean distance of two samples, by its clock; 0: none
  std::string engine;                // "gdb", "tcg"; empty: of none
  std::vector<ValueType> values;     // at least one
  bool operator==(const Source&) const = default;
};

// Each sample stands for as many ticks as its first value has, and Statistics count ticks; those of
// other sources count samples.
[[nodiscard]] inline bool is_of_ticks(const Source& source) {
  return !source.values.empty() && source.values.front().unit == WeightUnit::kTicks;
}

// The first source of a recording that has samples of vCPUs at ticks, as its header describes them.
inline constexpr const char* kCpuSourceName = "cpu";
inline constexpr std::uint32_t kCpuSource = 1;

}  // namespace ringside::recording
