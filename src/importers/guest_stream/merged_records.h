#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "importers/format.h"
#include "wire/guest_stream.h"

namespace ringside::importers::guest_stream {

// The records of streams of the guest library, in the order of their times: those of one CPU are in
// that order in a stream, and pieces of several CPUs follow each other as they were drained. Where
// a kernel has begun anew, its clock may have, too: its records come behind all of those before.
// All is read twice: to find where the pieces are, and to take the records out.
class MergedRecords {
 public:
  // `inputs` outlive it.
  explicit MergedRecords(std::span<const Input> inputs);

  // The next record that is no info; null at the end. Valid until the next call.
  [[nodiscard]] const wire::GuestRecord* next();
  // How often the kernel had begun anew before that record.
  [[nodiscard]] std::uint32_t restarts() const {
    return current_ == nullptr ? 0 : current_->kernel();
  }

  // All of these are of the whole streams.
  [[nodiscard]] const std::optional<wire::GuestFacts>& facts() const { return facts_; }
  [[nodiscard]] std::uint64_t first_time() const { return first_time_; }
  [[nodiscard]] std::uint32_t most_cpu() const { return most_cpu_; }
  // Records that were begun and are not there.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  // Those of them that were samples.
  [[nodiscard]] std::uint64_t lost_samples() const { return lost_samples_; }
  // Records that found no room in their ring.
  [[nodiscard]] std::uint64_t without_room() const { return without_room_; }
  // How often the kernel has begun anew.
  [[nodiscard]] std::uint32_t all_restarts() const { return restarts_; }
  // Sentences about bytes that are part of no record, and about restarts.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  static constexpr std::size_t kReleaseBytes = 8 << 20;

  struct Piece {
    std::size_t start = 0;
    std::size_t end = 0;
    std::uint32_t kernel = 0;  // 0: the first
  };
  // One CPU's records in one stream.
  struct Lane {
    const Input* input = nullptr;
    std::vector<Piece> pieces;
    std::size_t piece = 0;  // that is read next
    std::array<std::uint64_t, wire::kMostGuestRecordWords> words{};
    wire::GuestRecord record;  // refers to `words`
    [[nodiscard]] std::uint32_t kernel() const { return pieces[piece].kernel; }
  };
  struct Later {
    // The earlier input, and the CPU of the lower number, is first of two with one time.
    bool operator()(const Lane* a, const Lane* b) const {
      return std::tuple(a->kernel(), a->record.time, a->input, a->record.cpu) >
             std::tuple(b->kernel(), b->record.time, b->input, b->record.cpu);
    }
  };

  void scan(const Input& input);
  // Reads the lane's next record; false where there is none.
  [[nodiscard]] bool advance(Lane& lane);
  void note_read(const Input& input, std::size_t bytes);

  std::vector<std::map<std::uint16_t, Lane>> lanes_;  // of the inputs, by CPU
  std::priority_queue<Lane*, std::vector<Lane*>, Later> queue_;
  Lane* current_ = nullptr;  // whose record was returned last
  std::optional<wire::GuestFacts> facts_;
  std::uint64_t first_time_ = 0;
  std::uint32_t most_cpu_ = 0;
  std::uint32_t restarts_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t lost_samples_ = 0;
  std::uint64_t without_room_ = 0;
  std::vector<std::string> warnings_;
  std::size_t unreleased_ = 0;  // bytes that were read since pages were given back
};

}  // namespace ringside::importers::guest_stream
