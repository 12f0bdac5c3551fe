#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exporters/parts/frame_texts.h"
#include "exporters/trace_dat/kernel_names.h"
#include "exporters/trace_dat/ring_buffer.h"
#include "exporters/trace_dat/task.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters::trace_dat {

// The events "kernel_stack" and "user_stack" of the system "ftrace", innermost frame first. The
// kernel's frames are addresses, with names in KernelNames; a program's are text, with the
// functions that are inlined, for its addresses mean something else in each process.
class StackEvents {
 public:
  StackEvents(profile::DetailedProfile& profile, const KernelNames& names)
      : profile_(profile), names_(names) {}

  // The texts of the kernel's events/ftrace/NAME/format.
  [[nodiscard]] static std::vector<std::string> formats();

  // Adds a group's stack to a buffer: an event for as many frames in turn as are of one kind and
  // fit into one. None where it was not sampled. Errors: those of the buffer.
  [[nodiscard]] Result<void> add(std::uint64_t time, std::uint32_t group, const Task& task,
                                 RingBuffer& buffer);

 private:
  [[nodiscard]] Result<void> write_callers(std::uint64_t time, const Task& task,
                                           RingBuffer& buffer);
  [[nodiscard]] Result<void> write_lines(std::uint64_t time, const Task& task, RingBuffer& buffer);
  [[nodiscard]] std::string make_lines(const profile::DetailedFrame& frame) const;

  profile::DetailedProfile& profile_;
  const KernelNames& names_;
  FrameTexts lines_;
  std::vector<std::uint64_t> callers_;  // not written yet
  std::string text_;                    // not written yet
  std::string bytes_;                   // reused
};

}  // namespace ringside::exporters::trace_dat
