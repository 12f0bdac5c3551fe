#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/memory_reader.h"
#include "engines/ring/plausible.h"
#include "wire/guest_area.h"
#include "wire/guest_record.h"

namespace ringside::engines::ring {

// Bytes from the start of the area of a guest's rings (wire/GUEST_RING.md).
using AreaOffset = Address<struct AreaOffsetTag>;
using AreaMemory = MemoryReader<AreaOffset>;

// The fate of a CPU's records since the first poll. Those that were begun are those that
// were read and those that are lost.
struct RingCounts {
  std::uint64_t read = 0;
  std::uint64_t no_room = 0;       // the ring was full: mode drop
  std::uint64_t missed = 0;        // overwritten before they were read, or never whole
  std::uint64_t lost_samples = 0;  // of those without room and those that were missed
  std::uint64_t damaged = 0;       // jumps of counters that cannot be true, and are not counted

  [[nodiscard]] std::uint64_t lost() const { return no_room + missed; }
  RingCounts& operator+=(const RingCounts& other) {
    read += other.read;
    no_room += other.no_room;
    missed += other.missed;
    lost_samples += other.lost_samples;
    damaged += other.damaged;
    return *this;
  }
};

// Reads the records that a guest puts into one CPU's ring, while it does so. Writes nothing to the
// guest. Reads those that come after the first poll(), unless all are wanted.
//
// The guest may do anything to its memory meanwhile, and may begin anew: then its counts go back.
// Counts that jump further than they can (plausible.h) are damaged: reading goes on behind them.
// Words that make no sense may be a record that is not whole yet: it is read again, until kPatience
// polls have seen more records begin behind it, or the ring is half a round further. Then the next
// record is looked for. A poll reads and checks kMostWords at most.
class RingReader {
 public:
  // `memory` outlives the reader.
  RingReader(AreaMemory& memory, wire::GuestArea area, std::uint32_t cpu);

  // All records are wanted, also those from before the first poll(). Polls before are forgotten.
  void want_all();

  // `words` are those that the record was read from.
  using Visit = std::function<Result<void>(const wire::GuestRecord& record,
                                           std::span<const std::uint64_t> words)>;
  // Visits the records that have come, in as many words as `budget` at most, from which it takes
  // what it has read; what is left comes with the next poll. Errors: those of the memory,
  // kUnreadable where the area is not mapped, the visitor's.
  [[nodiscard]] Result<void> poll(const Visit& visit, std::size_t& budget);
  [[nodiscard]] Result<void> poll(const Visit& visit) {
    std::size_t budget = kMostWords;
    return poll(visit, budget);
  }
  // Whether the last poll has left words: a record that is not whole, or what its budget left.
  [[nodiscard]] bool has_more() const { return behind() != 0; }
  // The same until none is left: what is not whole now is lost. So is what is left at the deadline,
  // by monotonic_ns(): words that all look like records take long to check.
  [[nodiscard]] Result<void> finish(const Visit& visit, std::uint64_t deadline_ns);

  [[nodiscard]] RingCounts counts() const;
  // Records that the CPU has begun by now, in 32 bits. Errors: as of poll().
  [[nodiscard]] Result<std::uint32_t> begun() const;

  static constexpr unsigned kPatience = 16;
  static constexpr std::size_t kMostWords = 1 << 18;

 private:
  [[nodiscard]] Result<wire::GuestCpuState> state_now() const;
  [[nodiscard]] Result<void> read_state();
  // Whether no counter is further than it can be. To be asked once for each state.
  [[nodiscard]] bool has_plausible_growth(const wire::GuestCpuState& now);
  // Records from that state of the CPU on, and words from that position on, are still to be read.
  void begin_at(const wire::GuestCpuState& state, std::uint64_t position);
  // The bits of a count of words.
  [[nodiscard]] std::uint64_t mask() const {
    return area_.pointer_bytes == 4 ? 0xffffffff : ~std::uint64_t{0};
  }
  [[nodiscard]] Result<void> read_words(std::size_t& budget);
  [[nodiscard]] Result<void> take(const Visit& visit, bool is_last, std::size_t& budget);
  [[nodiscard]] std::optional<wire::GuestRecord> record_at(std::size_t at,
                                                           std::size_t& words) const;
  // Words between the head and the position. Both may wrap: a guest's head is any number.
  [[nodiscard]] std::uint64_t behind() const { return head_ - position_; }
  // Whether the record at `at` may go on behind the words that were read.
  [[nodiscard]] bool may_go_on(std::size_t at) const;
  [[nodiscard]] bool is_patient(std::size_t at, bool is_last) const;
  [[nodiscard]] bool is_new(std::uint32_t sequence) const;
  void note(const wire::GuestRecord& record);
  // The sequence in 64 bits: near that of the last record.
  [[nodiscard]] std::int64_t extended(std::uint32_t sequence) const;

  AreaMemory& memory_;
  wire::GuestArea area_;
  std::uint32_t cpu_;
  bool has_begun_ = false;
  bool searches_ = false;       // no record is known to begin at position_
  std::uint64_t head_ = 0;      // words, extended to 64 bits
  std::uint64_t position_ = 0;  // all before it was read, or is lost
  wire::GuestCpuState state_;
  PlausibleGrowth growth_;
  unsigned waits_ =
      0;  // polls that have seen head_ move while the record at position_ was not whole
  std::uint64_t waited_at_ = 0;       // head_ at the last of them
  std::vector<std::uint64_t> words_;  // from position_ on
  // Sequences, extended to 64 bits.
  std::int64_t first_ = 0;         // of the first record that is begun after the first poll
  std::int64_t last_ = 0;          // of those that were read
  std::uint64_t read_before_ = 0;  // records that were read and begun before first_
  std::uint64_t read_ = 0;
  std::uint64_t read_samples_ = 0;
  std::uint32_t samples_before_ = 0;  // that were begun before first_
  std::uint64_t recent_ = 0;          // bit n: sequence last_ - n was read
  std::int64_t end_ = 0;              // behind the last that was begun, once finish() was called
  std::uint32_t no_room_before_ = 0;  // at the first poll
  RingCounts before_;                 // of kernels that ran before this one
};

}  // namespace ringside::engines::ring
