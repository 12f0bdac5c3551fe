#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/stack.h"
#include "base/types.h"
#include "wire/guest_area.h"

// The records that the guest library writes, in rings and streams; GUEST_RING.md has the layout.
namespace ringside::wire {

enum class GuestRecordKind : std::uint8_t { kInfo = 1, kSample = 2, kAllocation = 3, kEvent = 4 };

inline constexpr std::uint16_t kGuestRecordMark = 0x5352;
inline constexpr std::size_t kGuestRecordHeadWords = 3;
inline constexpr std::size_t kMostGuestRecordWords = 320;

// Who ran. All zero: nobody, or it is unknown.
struct GuestTask {
  std::uint64_t address_space = 0;  // as the register of the page tables has it
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::string_view name;

  [[nodiscard]] bool is_known() const {
    return address_space != 0 || pid != 0 || tid != 0 || !name.empty();
  }
};

// A stack. `interruptions` are where its code was interrupted, as many as `interruption_count`.
struct GuestFrames {
  std::span<const std::uint64_t> addresses;  // the innermost first
  StopReason stop = StopReason::kEndOfStack;
  std::uint32_t interruption_count = 0;
  std::span<const std::uint64_t> interruptions;  // as the record has them
};

enum class GuestSampleSource : std::uint8_t { kTimer, kNmi, kOther };

struct GuestSample {
  GuestSampleSource source = GuestSampleSource::kTimer;
  GuestFrames kernel;
  GuestFrames user;
};

enum class AllocationOperation : std::uint8_t { kAlloc, kRealloc, kFree };
enum class AllocationUnit : std::uint8_t { kBytes, kPages, kObjects };

struct GuestAllocation {
  AllocationOperation operation = AllocationOperation::kAlloc;
  AllocationUnit unit = AllocationUnit::kBytes;
  std::string_view allocator;
  std::uint64_t pointer = 0;
  std::uint64_t old = 0;   // before a realloc
  std::uint64_t size = 0;  // in the unit
  GuestFrames stack;
};

struct GuestEvent {
  std::string_view name;
  std::span<const std::uint64_t> numbers;  // i64
  GuestFrames stack;
};

// Facts about the guest, which its streams repeat.
struct GuestInfo {
  Arch arch = Arch::kUnknown;
  std::uint32_t cpus = 0;
  std::uint64_t clock_hz = 0;
  GuestVirt anchor;
  std::string_view anchor_name;
  std::uint32_t lost = 0;     // records that found no room on this CPU
  std::uint32_t samples = 0;  // that were begun on this CPU
};

// Parts of it are in the words that it was read from.
struct GuestRecord {
  GuestRecordKind kind = GuestRecordKind::kInfo;
  std::uint16_t cpu = 0;
  std::uint32_t sequence = 0;
  std::uint64_t time = 0;  // a counter of the guest's
  GuestTask task;
  // That of the kind is set.
  GuestInfo info;
  GuestSample sample;
  GuestAllocation allocation;
  GuestEvent event;
};

// How many words the record has that begins with `head`; 0: none begins so.
[[nodiscard]] std::size_t guest_record_words(std::uint64_t head);

// Reads a whole record: all of `words`, whose number is guest_record_words() of the first. Nothing
// where its check is wrong or it makes no sense.
[[nodiscard]] std::optional<GuestRecord> read_guest_record(std::span<const std::uint64_t> words);

// The check of words, from that of those before.
inline constexpr std::uint32_t kFirstGuestCheck = 0x811c9dc5;
[[nodiscard]] constexpr std::uint32_t mix_guest_check(std::uint32_t check, std::uint64_t word) {
  check = (check ^ static_cast<std::uint32_t>(word)) * 0x01000193u;
  return (check ^ static_cast<std::uint32_t>(word >> 32)) * 0x01000193u;
}

}  // namespace ringside::wire
