#pragma once

#include <cstdint>

#include "elf/image_map.h"
#include "engines/engine.h"

namespace ringside::session {

// Notices that the guest may have booted again since its kernel was found: firmware runs for long,
// or kernel code that is in no image. The memory at the kernel's place then
// shows more.
class RebootWatch {
 public:
  // Takes in a tick. The capture by whose page tables the kernel's place is to be checked now; null
  // where there is nothing to check. `known` is all known code of kernel mode; `now_ns` is of any
  // clock that goes on with the guest.
  [[nodiscard]] const wire::Capture* poll(const engines::Tick& tick, const elf::ImageMap& known,
                                          std::uint64_t now_ns);

  enum class Verdict {
    kThere,
    kThereAfterReset,  // perhaps: the kernel may have booted again at the same place
    kGone,             // firmware has run for long, and the kernel is not at its place
    // Code runs that does not have the kernel at its place: that of another kernel, or a trampoline
    // between two address spaces.
    kHidden,
    kUnreadable,  // not even the code that runs can be read
  };
  // Compares memory with the kernel, as the capture that poll() gave saw it. Errors: those of
  // `memory`; then the next tick asks again.
  [[nodiscard]] Result<Verdict> check(const elf::Image& kernel, const wire::Capture& running,
                                      VirtualMemory& memory, std::uint64_t now_ns);

 private:
  static constexpr std::uint64_t kFirstPatienceNs = 250'000'000;

  // When to look next: less and less often.
  struct Pace {
    std::uint64_t next_ns = 0;
    std::uint64_t patience_ns = kFirstPatienceNs;

    void rest(std::uint64_t now_ns, std::uint64_t longest_ns);
  };

  void take_in(const wire::Capture& capture, const elf::ImageMap& known, std::uint64_t now_ns);

  unsigned firmware_run_ = 0;            // captures of the first vCPU in a row
  std::uint64_t firmware_since_ns_ = 0;  // the first of them
  unsigned unknown_run_ = 0;  // captures of kernel code in no image, with no known code between
  bool may_be_reset_ = false;
  Pace after_reset_;
  Pace after_unknown_;
};

}  // namespace ringside::session
