#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/stack.h"
#include "unwind/user/user_code.h"
#include "wire/capture.h"

namespace ringside::unwind {

// Walks the stacks of user code. Rules come from call-frame information, on x86 from the
// instructions of functions, and elsewhere from what stubs of the procedure
// linkage table are; where none knows an address the walk ends with kNoRule: nothing is guessed.
// Tables and rules belong to files, so that all processes share them.
//
// Frames of a known image have its linked addresses (Frame::image), so that a function is the same
// frame in every process, wherever it was loaded.
class UserUnwinder {
 public:
  // Bytes of the files whose rules are remembered, with those rules.
  static constexpr std::size_t kMaxBytes = 256u << 20;

  explicit UserUnwinder(std::size_t max_frames = 512, std::size_t max_bytes = kMaxBytes);
  ~UserUnwinder();
  UserUnwinder(UserUnwinder&&) noexcept;
  UserUnwinder& operator=(UserUnwinder&&) noexcept;

  // From `registers`, which are user code's by the numbers of `arch`, through the memory that was
  // copied with `capture`, which may be of another: 32-bit code on a 64-bit kernel. Where `arch` is
  // kUnknown they have the capture's numbers, and their pc is all that is reported (kNoRule); so it
  // is where the stack pointer is not among them (kLostRegister). Never fails: a walk that cannot
  // go on says why in Stack::stop.
  [[nodiscard]] Stack unwind(Arch arch, const arch::Registers& registers,
                             const wire::Capture& capture, const UserCode& code);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::unwind
