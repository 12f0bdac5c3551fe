#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

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
  [[nodiscard]] static Result<Writer> create(const std::filesystem::path& path,
                                             const Header& header);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // flushes what it can; a recording without finish() reads as cut

  // Returns the id for Mapping::image. The id in `image` is ignored.
  [[nodiscard]] Result<std::uint32_t> add_image(const ImageInfo& image);
  [[nodiscard]] Result<std::uint32_t> add_mapping(const Mapping& mapping);

  // `stack` is null where there is none (idle, skipped, failed). Frames find their image through
  // the mappings of SampleInfo::address_space and of address space 0, unless they name it.
  [[nodiscard]] Result<void> add_sample(const SampleInfo& info, const Stack* stack);
  // Several stacks: the part that ran, then what it was entered from.
  [[nodiscard]] Result<void> add_sample(const SampleInfo& info,
                                        std::span<const Stack* const> parts);

  // The capture that the sample added last was unwound from. Its host_time_ns must be the sample's
  // time_ns.
  [[nodiscard]] Result<void> add_capture(const wire::Capture& capture);

  [[nodiscard]] Result<void> add_epoch(const GuestEpoch& epoch);
  [[nodiscard]] Result<void> add_thread_name(const ThreadName& name);
  // Split into pieces where it is larger than a block.
  [[nodiscard]] Result<void> add_blob(const Blob& blob);
  // Event::stack is ignored; `stack` may be null.
  [[nodiscard]] Result<void> add_event(const Event& event, const Stack* stack);
  [[nodiscard]] Result<void> add_warning(std::string_view text);
  // May be called as often as one likes; the last one counts.
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

}  // namespace ringside::recording
