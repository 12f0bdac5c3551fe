#pragma once

#include <vector>

#include "importers/pprof/location_frames.h"
#include "importers/pprof/sample_owner.h"
#include "importers/pprof/thread_names.h"

namespace ringside::importers::pprof {

// Reads one sample.
class SampleReader {
 public:
  explicit SampleReader(const Messages& messages) : messages_(messages), labels_(messages) {}

  // Empty where it was read; else why it is none. The values below are of it then.
  [[nodiscard]] std::string_view read(std::string_view message);

  std::vector<std::uint64_t> locations;  // ids before read() has returned, then numbers; leaf first
  std::vector<std::uint64_t> values;     // as many as types, and signed
  SampleOwner owner;
  bool is_cut = false;  // it has more locations than are taken

  [[nodiscard]] const LabelReader& labels() const { return labels_; }

 private:
  [[nodiscard]] bool take(const Field& field);

  const Messages& messages_;
  LabelReader labels_;
};

// Puts samples into a recording. `columns` are the numbers of the types of its source's values.
class SampleWriter {
 public:
  SampleWriter(const Messages& messages, const ImportOptions& options,
               const std::vector<std::size_t>& columns, recording::Writer& writer);

  // The images, before the first sample. Errors: the writer's.
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> add(SampleReader& sample);
  // False where so many different stacks are there that memory would not do for more.
  [[nodiscard]] bool has_room() const;

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t cut() const { return cut_; }  // stacks without their outer frames
  // The sum of the first value; what is negative is not in it.
  [[nodiscard]] std::uint64_t weight() const { return weight_; }

 private:
  [[nodiscard]] Result<void> add_stacks(const SampleReader& sample, PrivilegeLevel& level);
  [[nodiscard]] Result<void> collect(const SampleReader& sample);
  [[nodiscard]] std::size_t kernel_part() const;
  void add_part(std::size_t begin, std::size_t end, FrameKind kind);
  [[nodiscard]] recording::StackRef add_nameless(std::span<const recording::RecordedFrame> part);

  const ImportOptions& options_;
  const Messages& messages_;
  const std::vector<std::size_t>& columns_;
  recording::Writer& writer_;
  Images images_;
  LocationFrames frames_of_;
  ThreadNames names_;
  std::uint64_t count_ = 0;
  std::uint64_t weight_ = 0;
  std::uint64_t cut_ = 0;
  std::uint32_t last_node_ = 0;
  std::vector<recording::RecordedFrame> frames_;  // of the sample, leaf first
  std::vector<bool> in_kernel_;                   // by frame
  std::vector<recording::StackRef> stacks_;       // of the sample
  std::vector<std::int64_t> more_values_;
  Stack nameless_;  // reused
};

}  // namespace ringside::importers::pprof
