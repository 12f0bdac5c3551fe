#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "wire/guest_record.h"

namespace ringside::wire {

// Facts about the guest, which all streams of it have.
struct GuestFacts {
  Arch arch = Arch::kUnknown;
  std::uint32_t cpus = 0;      // 1 or more
  std::uint64_t clock_hz = 0;  // 0: unknown
  GuestVirt anchor;            // 0: none
  std::string anchor_name;
};
[[nodiscard]] GuestFacts facts_of(const GuestInfo& info);

// The sequences of one CPU's records, in 64 bits, as they are read: what is missing between them
// was lost. A kernel has begun anew where they go back by more than 1,024, or where an info, which
// comes after all that were read before it, counts fewer, or has a time that is clearly earlier.
class GuestSequences {
 public:
  // Takes a record that was read.
  void note(const GuestRecord& record);

  [[nodiscard]] std::uint64_t read() const { return before_.read + read_; }
  // How often a kernel has begun anew.
  [[nodiscard]] std::uint32_t restarts() const { return restarts_; }
  // Records that were begun since the first that was read, and were not read. `at_end`: also those
  // that are known of by an info only, and may still be on their way.
  [[nodiscard]] std::uint64_t lost(bool at_end = true) const;
  // Those of them that were samples, as far as the infos show it; else in the proportion of those
  // that were read.
  [[nodiscard]] std::uint64_t lost_samples(bool at_end = true) const;
  // Those that found no room, since the first info.
  [[nodiscard]] std::uint64_t without_room() const;

 private:
  struct Counts {
    std::uint64_t read = 0;
    std::uint64_t lost = 0;
    std::uint64_t lost_samples = 0;
    std::uint64_t without_room = 0;
  };
  struct Samples {
    std::uint32_t begun = 0;  // as an info says
    std::uint64_t read = 0;   // until then
    std::uint32_t without_room = 0;
  };
  [[nodiscard]] std::int64_t extended(std::uint32_t sequence) const;
  [[nodiscard]] bool is_of_another_kernel(const GuestRecord& record) const;
  void note_info(const GuestRecord& record);
  void begin_anew();

  Counts before_;  // of kernels that ran before
  std::uint32_t restarts_ = 0;
  std::uint64_t last_time_ = 0;  // of this kernel's records
  bool has_one_ = false;
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;                       // behind the last that was read
  std::int64_t begun_ = 0;                     // behind the last that an info says was begun
  std::optional<std::uint32_t> begun_before_;  // the same, before the first record that was read
  std::uint64_t read_ = 0;
  std::uint64_t read_samples_ = 0;
  std::optional<Samples> first_info_;
  Samples last_info_;
};

// Reads a stream of the guest library's records, which ringside_drain() made (GUEST_RING.md). Its
// bytes may have been lost, changed or added to on their way: the next record is looked for then.
class GuestStream {
 public:
  // `offset` is that of the record's first byte in the stream.
  using Visit = std::function<Result<void>(const GuestRecord& record, std::uint64_t offset)>;

  // Reads the records at the front of `bytes`, and returns of how many bytes nothing is wanted any
  // more. The others are to come again, with more behind them, unless `is_last`. Errors: the
  // visitor's.
  [[nodiscard]] Result<std::size_t> read(Bytes bytes, bool is_last, const Visit& visit);

  // Bytes that are part of no record.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  // The offset of the first of them.
  [[nodiscard]] std::uint64_t first_skipped() const { return first_skipped_; }
  // By the numbers of CPUs.
  [[nodiscard]] const std::map<std::uint16_t, GuestSequences>& cpus() const { return cpus_; }

 private:
  // A record at the front of `bytes`, and its size: 0 where there is none; more than there are
  // bytes where it may be cut.
  struct Found {
    std::optional<GuestRecord> record;
    std::size_t size = 0;
  };
  [[nodiscard]] Found find(Bytes bytes);
  void note(const GuestRecord& record);

  std::uint64_t offset_ = 0;  // of what comes next
  std::uint64_t skipped_ = 0;
  std::uint64_t first_skipped_ = 0;
  std::map<std::uint16_t, GuestSequences> cpus_;
  std::array<std::uint64_t, kMostGuestRecordWords> words_{};
};

}  // namespace ringside::wire
