#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "base/stack.h"
#include "recording/records.h"

namespace ringside::recording {

// Writes a recording. Records are gathered into blocks; a block leaves in one write(2) when 64 KiB
// are together or 500 ms of sample time have passed. Records added before flush() returned survive
// the death of the process.
//
// Memory grows with the number of distinct stacks, not with the number of samples. After an error
// the file holds the whole blocks before it, and every later call returns the same error.
class Writer {
 public:
  // An older file of that name becomes "<path>.old". "-" streams to standard output.
  // Its first source, kCpuSource, is the one that the header describes.
  [[nodiscard]] static Result<Writer> create(const std::filesystem::path& path,
                                             const Header& header);
  // The first of `sources`, of which there is at least one, is what is shown where nobody chooses;
  // their ids are 1, 2, 3, ….
  [[nodiscard]] static Result<Writer> create(const std::filesystem::path& path,
                                             const Header& header,
                                             const std::vector<Source>& sources);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // flushes what it can; a recording without finish() reads as cut

  // Completes the header with what was determined later; what is empty stays as it was.
  [[nodiscard]] Result<void> describe_kernel(const GuestKernel& kernel);

  // The file is gone at the end: errors do not recommend to read it.
  void set_temporary();

  // Returns the id for Mapping::image. The id in `image` is ignored.
  [[nodiscard]] Result<std::uint32_t> add_image(const ImageInfo& image);
  [[nodiscard]] Result<std::uint32_t> add_mapping(const Mapping& mapping);

  // Where it comes before the frames in it, a recording that is cut has names for all of them.
  [[nodiscard]] Result<void> add_function(const ImageFunction& function);

  // Each returns the id. That in the value is ignored.
  [[nodiscard]] Result<std::uint32_t> add_clock(const Clock& clock);
  [[nodiscard]] Result<std::uint32_t> add_source(const Source& source);
  [[nodiscard]] Result<void> add_clock_tie(const ClockTie& tie);
  // For SampleInfo::waits_for and RecordedFrame::function. A text that was given before has its id
  // still, or gets another one.
  [[nodiscard]] Result<std::uint32_t> add_text(std::string_view text);

  [[nodiscard]] Result<std::uint32_t> add_event_type(const EventType& type);
  [[nodiscard]] Result<std::uint32_t> add_snapshot(const Snapshot& snapshot);
  [[nodiscard]] Result<std::uint32_t> add_counter_set(const CounterSet& set);
  [[nodiscard]] Result<std::uint32_t> add_mark(const Mark& mark);
  // For events and counters. The times, values and source of `info` are ignored.
  [[nodiscard]] std::uint32_t add_context(const SampleInfo& info, std::span<const StackRef> stacks);
  [[nodiscard]] std::uint32_t add_thread(const Thread& thread);
  // The frame's id, for fields that are symbols.
  [[nodiscard]] std::uint32_t add_frame(const RecordedFrame& frame);
  // All rows of a batch; columns have as many as `contexts`, or `keys`, or are empty.
  [[nodiscard]] Result<void> add_events(const EventBatch& batch);
  [[nodiscard]] Result<void> add_counters(const CounterBatch& batch);

  // `stack` is null where there is none (idle, skipped, failed). Frames find their image through
  // the mappings of SampleInfo::address_space and of address space 0, unless they name it.
  [[nodiscard]] Result<void> add_sample(const SampleInfo& info, const Stack* stack);
  // Several stacks: the part that ran, then what it was entered from.
  [[nodiscard]] Result<void> add_sample(const SampleInfo& info,
                                        std::span<const Stack* const> parts);
  // Stacks as add_stack() gave them, in their roles, and the values behind SampleInfo::weight.
  [[nodiscard]] Result<void> add_sample(const SampleInfo& info, std::span<const StackRef> stacks,
                                        std::span<const std::int64_t> more_values);
  // Leaf first. Frames that have a function need no address; the others find no image here. Its
  // role is StackRole::kOwn.
  [[nodiscard]] StackRef add_stack(std::span<const RecordedFrame> frames);
  [[nodiscard]] StackRef add_stack(const Stack& stack, std::uint64_t address_space);

  // The capture that the sample added last was unwound from. Its host_time_ns must be the sample's
  // time_ns.
  [[nodiscard]] Result<void> add_capture(const wire::Capture& capture);

  // All mappings end, and no stack is shared with what came before.
  [[nodiscard]] Result<void> add_epoch(const GuestEpoch& epoch);
  [[nodiscard]] Result<void> add_thread_name(const ThreadName& name);
  // Split into pieces where it is larger than a block.
  [[nodiscard]] Result<void> add_blob(const Blob& blob);
  [[nodiscard]] Result<void> add_warning(std::string_view text);
  // May be called as often as one likes; the last one of each source counts.
  [[nodiscard]] Result<void> add_statistics(const Statistics& statistics);

  // Writes what is gathered, as one block.
  [[nodiscard]] Result<void> flush();
  // Marks the recording as complete. No call but the destructor may follow.
  [[nodiscard]] Result<void> finish();

  [[nodiscard]] std::uint64_t bytes_written() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Writes the bytes of a whole recording where Writer::create() would begin one.
[[nodiscard]] Result<void> write_copy(const std::filesystem::path& path, Bytes recording);

}  // namespace ringside::recording
