#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "elf/image_map.h"
#include "recording/guest_event_tables.h"
#include "recording/writer.h"
#include "unwind/unwinder.h"
#include "wire/guest_record.h"

namespace ringside::importers::guest_stream {

// A guest's clock.
struct GuestClock {
  std::uint64_t first = 0;  // its counter at the first record
  double hz = 0;            // 0: unknown; times are ticks then
  std::uint32_t id = recording::kHostClock;
};

// Puts a guest's records into a recording, in the order of their times.
class RecordWriter {
 public:
  // `kernel` is the file of the kernel that ran, where there is one.
  RecordWriter(recording::Writer& writer, const GuestClock& clock, Arch arch,
               std::optional<elf::Image> kernel);

  // Errors: the writer's.
  [[nodiscard]] Result<void> add(const wire::GuestRecord& record);
  // The records from now on have a clock that has begun anew, of which `first` is the first time:
  // their times go on where those before have ended.
  void begin_anew(std::uint64_t first);
  // Writes what was gathered.
  [[nodiscard]] Result<void> finish() { return tables_.flush(); }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }  // idle ones too
  [[nodiscard]] std::uint64_t left_out() const { return tables_.left_out(); }

 private:
  [[nodiscard]] std::uint64_t time_of(std::uint64_t counter);
  [[nodiscard]] Result<void> name_thread(const wire::GuestTask& task, std::uint64_t time);
  [[nodiscard]] Result<void> add_sample(const wire::GuestSample& sample,
                                        recording::SampleInfo& info);
  [[nodiscard]] std::uint32_t context_of(const wire::GuestFrames& frames,
                                         const recording::SampleInfo& info);

  recording::Writer& writer_;
  GuestClock clock_;
  Arch arch_;
  elf::ImageMap images_;
  unwind::Unwinder unwinder_;
  recording::GuestEventTables tables_;
  wire::Capture capture_;      // reused
  std::uint64_t started_ = 0;  // the time of the clock's first
  std::uint64_t last_time_ = 0;
  std::uint64_t samples_ = 0;
  std::unordered_map<std::uint64_t, std::string> names_;  // by pid and tid
};

}  // namespace ringside::importers::guest_stream
