#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/stack.h"
#include "elf/image_map.h"
#include "unwind/return_hook.h"
#include "unwind/trap_frame_layout.h"
#include "unwind/user/user_entry.h"
#include "wire/capture.h"

namespace ringside::unwind {

struct Options {
  // False while a kernel is expected and has not been seen running yet: kernel-level code in the
  // lower half of the address space and outside every image is firmware (BIOS, boot loader) then.
  bool kernel_seen = true;
  std::size_t max_frames = 512;
  std::vector<TrapFrameLayout> entries = {};
  std::vector<ReturnHook> hooks = {};
  TableUse tables = {};
  bool full_only = false;  // never the fast walk: to compare the two
};

// How often each source gave a frame, and which work the caches saved.
struct Statistics {
  std::uint64_t stacks = 0;
  std::uint64_t frames = 0;
  std::array<std::uint64_t, kFrameSourceCount> frames_by_source{};
  std::uint64_t slow_stacks = 0;  // that needed the walk with all registers
  std::uint64_t slow_frames = 0;  // that this walk found
  std::uint64_t rule_hits = 0;    // addresses whose rule was in the cache
  std::uint64_t rule_misses = 0;  // addresses whose rule had to be looked up
};

// Turns a Capture into a Stack, from the Capture's memory and the images alone. Rules are found per
// address, in this order: ORC, trap-frame layouts, call-frame information, the instructions around
// the pc with frame pointers, and at last an interrupt frame found by its looks (kGuess). Tables
// are built when an image is first met; rules are cached. Not for use by several threads at once:
// each thread has its own.
class Unwinder {
 public:
  // `images` must outlive the unwinder; images may be added to it later.
  explicit Unwinder(const elf::ImageMap& images, Options options = {});
  ~Unwinder();
  Unwinder(Unwinder&&) noexcept;
  Unwinder& operator=(Unwinder&&) noexcept;

  // Never fails: a walk that cannot go on says why in Stack::stop. Captures that hold no sample
  // (idle, skipped, failed) give an empty stack with kNoRegisters.
  [[nodiscard]] Stack unwind(const wire::Capture& capture);

  // The entry of user code, for a capture in kernel mode whose stack ended with kUserMode, or with
  // kEndOfStack where entry code states that its own frame is the last. Empty where nothing is
  // known.
  [[nodiscard]] UserEntry user_entry(const wire::Capture& capture);

  void set_kernel_seen(bool seen);
  // The tables of another kernel.
  void set_entries(std::vector<TrapFrameLayout> entries, std::vector<ReturnHook> hooks = {});
  [[nodiscard]] const Statistics& statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::unwind
