#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/stack.h"
#include "base/types.h"
#include "recording/sources.h"
#include "wire/capture.h"

// Samples as a recording has them: what many of them share stands once, as their context, and the
// rest in columns.
namespace ringside::recording {

// The vCPU of samples that were taken of none: a thread that waits, a folded stack.
inline constexpr VcpuId kNoVcpu{0xffff};

enum class ThreadState : std::uint8_t {
  kUnknown,
  kRunning,   // on a vCPU
  kRunnable,  // waits for one
  kSleeping,  // until something happens or a signal comes
  kBlocked,   // the same, without signals
  kStopped,
  kDead,
};
inline constexpr ThreadState kLastThreadState = ThreadState::kDead;
[[nodiscard]] std::string_view name_of(ThreadState state);

// A thread. Numbers are used again: the start tells apart who had one.
struct Thread {
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::uint64_t start_ns = 0;  // 0: unknown
  bool operator==(const Thread&) const = default;
};

// Which of a sample's stacks it is.
enum class StackRole : std::uint8_t {
  kOwn,          // the code that ran, and, behind it, the user code that entered it
  kInterrupted,  // by the code that ran
  kWaker,        // of the thread that woke this one
  kEntry,        // into a function …
  kReturn,       // … and out of it
};
inline constexpr StackRole kLastStackRole = StackRole::kReturn;
[[nodiscard]] std::string_view name_of(StackRole role);

// One stack of a sample, as the reader gives it back.
struct StackRef {
  std::uint32_t node = 0;  // the leaf; 0 where no frame was found, kLostStack where it was damaged
  StopReason stop = StopReason::kEndOfStack;
  GuestVirt stopped_at;  // 0 where the stack is complete
  StackRole role = StackRole::kOwn;
  bool operator==(const StackRef&) const = default;
};
inline constexpr std::uint32_t kLostStack = 0xffffffff;

// Stacks that a sample may have; more are left out.
inline constexpr std::size_t kMostStacks = 16;

// A list of stacks: `stack`, then those of the list `rest`.
struct StackList {
  StackRef stack;
  std::uint32_t rest = 0;  // 0: none
  bool operator==(const StackList&) const = default;
};

// All that a sample has besides its time and its values.
struct Context {
  std::uint32_t thread = 0;  // 0: of none that is known
  VcpuId vcpu;
  PrivilegeLevel level = PrivilegeLevel::kUnknown;
  wire::Disposition disposition = wire::Disposition::kSampled;
  ThreadState state = ThreadState::kUnknown;
  std::uint32_t waits_for = 0;  // a text; 0: for nothing that is known
  std::uint64_t address_space = 0;
  std::uint32_t stacks = 0;  // a list; 0: none
  bool operator==(const Context&) const = default;
};

// Values that a sample, fields that an event, and parts that a key may have; more are left out.
inline constexpr std::size_t kMostColumns = 64;

// Samples of one source in the order in which they were taken, by column.
struct SampleBatch {
  std::uint32_t source = 0;
  std::vector<std::uint64_t> times;  // by the source's clock
  std::vector<std::uint32_t> contexts;
  std::vector<std::uint64_t> pauses;              // ns; empty: all 0
  std::vector<std::vector<std::int64_t>> values;  // by the source's value; an empty one: all 1

  [[nodiscard]] std::size_t size() const { return times.size(); }
  [[nodiscard]] std::uint64_t pause(std::size_t row) const {
    return pauses.empty() ? 0 : pauses[row];
  }
  // `value` counts the source's values from 0.
  [[nodiscard]] std::int64_t value(std::size_t value, std::size_t row) const {
    return value >= values.size() || values[value].empty() ? 1 : values[value][row];
  }
  // Keeps the memory.
  void clear() {
    for (auto& column : values) column.clear();
    times.clear();
    contexts.clear();
    pauses.clear();
  }
  bool operator==(const SampleBatch&) const = default;
};

// One sample with all that it has: as the writer takes it, and as a SampleVisitor gets it.
struct SampleInfo {
  std::uint64_t time_ns = 0;  // by the source's clock; the vCPUs of one stop share it
  VcpuId vcpu;
  PrivilegeLevel level = PrivilegeLevel::kUnknown;
  wire::Disposition disposition = wire::Disposition::kSampled;
  std::uint64_t pause_ns = 0;  // how long the guest stood still for the stop, all vCPUs together
  std::uint64_t weight = 1;    // the first of its values
  std::uint32_t source = kCpuSource;
  std::uint64_t address_space = 0;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::uint64_t thread_start_ns = 0;  // 0: unknown
  ThreadState state = ThreadState::kUnknown;
  std::uint32_t waits_for = 0;  // a text; 0: for nothing that is known
  bool operator==(const SampleInfo&) const = default;
};

// Takes the fields that a capture has. `start_monotonic_ns` is the header's.
[[nodiscard]] SampleInfo info_of(const wire::Capture& capture, std::uint64_t start_monotonic_ns);

struct Sample {
  SampleInfo info;
  // The part that ran first, then what it was entered from: kernel, then user. Empty unless
  // sampled.
  std::vector<StackRef> stacks;
  std::vector<std::int64_t> more_values;  // behind SampleInfo::weight
  bool operator==(const Sample&) const = default;
};

// Whether the stack at `index` of a sample is of user code.
[[nodiscard]] inline bool is_user_part(PrivilegeLevel level, std::size_t index) {
  return index > 0 || level == PrivilegeLevel::kUser;
}

}  // namespace ringside::recording
