#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "importers/format.h"
#include "importers/parts/faults.h"
#include "importers/perf_data/event_sources.h"
#include "importers/perf_data/file_header.h"
#include "importers/perf_data/image_files.h"
#include "importers/perf_data/kernel_code.h"
#include "importers/perf_data/record_reader.h"
#include "importers/perf_data/stacks.h"
#include "importers/perf_data/threads.h"
#include "importers/perf_data/unwinding.h"
#include "importers/perf_data/user_images.h"
#include "importers/perf_data/user_space.h"

namespace ringside::importers::perf_data {

// Takes records in their order of time: where code is, what threads are called, and samples, the
// first of which creates the recording.
class SampleImport {
 public:
  // All outlive it. `header` may grow as records are read.
  SampleImport(const FileHeader& header, const ImageFiles& files, const ImportOptions& options,
               Target& target, Faults& faults)
      : header_(header),
        target_(target),
        faults_(faults),
        host_(options, header.features, files, false),
        guest_(options, header.features, files, true),
        images_(header.features, files),
        unwinding_(header.features, images_),
        stacks_(header.features, host_, guest_, images_, unwinding_),
        sources_(header.attributes) {}

  // `at` is where it stands in the file, for faults; nothing where it was compressed. Errors: the
  // writer's.
  [[nodiscard]] Result<void> take(const RawRecord& record, std::optional<std::uint64_t> at);
  // Behind the last record.
  [[nodiscard]] Result<void> finish();

  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] recording::Writer* writer() { return writer_; }  // null: there was no sample

 private:
  static constexpr std::size_t kMostCounters = 1 << 16;

  [[nodiscard]] Result<void> take_sample(const RawRecord& record, std::optional<std::uint64_t> at);
  // One that counts for that event.
  [[nodiscard]] Result<void> add(std::size_t event, std::uint64_t period, CpuMode mode);
  [[nodiscard]] Result<void> add_group(CpuMode mode);
  [[nodiscard]] Result<void> create(std::size_t event);
  void add_fault(std::optional<std::uint64_t> at, std::string reason);
  void take_map(RecordType type, const RawRecord& record);
  void take_lost(RecordType type, const RawRecord& record);
  [[nodiscard]] std::uint64_t since_start(std::uint64_t time) const {
    return time > start_ ? time - start_ : 0;
  }

  const FileHeader& header_;
  Target& target_;
  Faults& faults_;
  KernelCode host_;
  KernelCode guest_;
  UserImages images_;
  Unwinding unwinding_;
  Stacks stacks_;
  UserSpaces spaces_;
  Threads threads_;
  EventSources sources_;
  recording::Writer* writer_ = nullptr;
  std::uint64_t start_ = 0;  // of the first sample
  std::uint64_t last_ = 0;
  std::uint64_t samples_ = 0;
  std::vector<std::string> warnings_;                          // without the file's name
  SampleRecord sample_;                                        // reused
  std::unordered_map<std::uint64_t, std::uint64_t> counters_;  // last values of groups, by id
};

}  // namespace ringside::importers::perf_data
