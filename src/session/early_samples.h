#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "elf/image_map.h"
#include "guestos/process_updates.h"
#include "recording/records.h"
#include "wire/capture.h"

namespace ringside::session {

// Samples on their way into the recording, in order. Code that a kernel loads is read once a
// second, so that the first samples of a module are taken before that: their stacks end there, and
// nothing shows whether they are an interrupt's. Such a sample waits until the code has been read,
// to be unwound again, and those that follow wait behind it.
class EarlySamples {
 public:
  struct Sample {
    recording::SampleInfo info;
    std::vector<Stack> parts;              // the part that ran first in front; empty without
    std::optional<wire::Capture> capture;  // where it is early, or is to be kept
    guestos::TaskAttribution attribution;  // where it is early
  };
  using Write = std::function<Result<void>(const Sample&)>;
  using Unwind =
      std::function<std::vector<Stack>(const wire::Capture&, const guestos::TaskAttribution&)>;

  // A sample waits until samples of `patience` ticks have followed.
  explicit EarlySamples(std::uint64_t patience) : patience_(patience) {}

  // The kernel code that is in none of the images and has ended this stack: the sample is early.
  // Nothing where there is none, or where that code was waited for in vain.
  [[nodiscard]] std::optional<GuestVirt> unknown_code(const wire::Capture& capture,
                                                      const Stack& stack,
                                                      const elf::ImageMap& images) const;
  [[nodiscard]] bool empty() const { return samples_.empty(); }
  // Takes a sample, which waits for the code at `waits_for` if it is early. Errors: those of
  // `write`.
  [[nodiscard]] Result<void> add(Sample sample, std::optional<GuestVirt> waits_for,
                                 const Write& write);
  // Images have been added.
  [[nodiscard]] Result<void> unwind_again(const elf::ImageMap& images, const Unwind& unwind,
                                          const Write& write);
  // No more code will come.
  [[nodiscard]] Result<void> finish(const Write& write);

 private:
  struct Held {
    Sample sample;
    std::uint64_t at = 0;  // ticks_ when it came
    std::size_t bytes = 0;
    std::optional<GuestVirt> waits_for;
  };
  void give_up(std::uint64_t page);
  [[nodiscard]] Result<void> release(const Write& write);

  std::uint64_t patience_;
  std::uint64_t ticks_ = 0;
  std::size_t bytes_ = 0;
  std::deque<Held> samples_;
  std::unordered_set<std::uint64_t> never_came_;  // pages of code that was waited for in vain
};

}  // namespace ringside::session
