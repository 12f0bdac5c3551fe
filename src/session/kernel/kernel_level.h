#pragma once

#include "elf/image_map.h"
#include "wire/capture.h"

namespace ringside::session {

// Decides what a vCPU's mode does not report: whether code that counts as firmware by its mode
// (arch::privilege_level_of) is the kernel's, and which code is that of a hypervisor's guest.
//   Firmware's mode: the kernel's is what lies in its image. Real-time systems run in machine mode
//     or in EL2, and kernels start there. Not on x86_64, where that is 32-bit code.
//   The kernel's usual mode: a guest's, where the kernel's own code has been seen in a higher mode
//     only.
//     A vCPU that repeats a trap (trap_loop.h) runs no code, and so no firmware.
//     Where firmware has interrupted other code, the capture becomes one of that code
//     (firmware_code.h).
//   User mode in the upper half of x86_64's addresses: the kernel of a guest, such as Xen's dom0,
//     which runs in ring 3 there. Linux has one page there that programs call. Where registers are
//     of different moments the mode is that of another moment, and the address counts.
class KernelLevel {
 public:
  // `no_firmware`: the machine was started without any, so that code in firmware's mode is the
  // kernel's as long as no kernel is known.
  // `wants_user`: user code that firmware has interrupted is wanted; else it stays firmware's.
  KernelLevel(bool no_firmware, bool wants_user)
      : no_firmware_(no_firmware), wants_user_(wants_user) {}

  // `kernel` is null while it is not known. `is_torn`: registers may be of different moments.
  void settle(wire::Capture& capture, const elf::Image* kernel, bool is_torn = false);
  [[nodiscard]] bool no_firmware() const { return no_firmware_; }

 private:
  [[nodiscard]] PrivilegeLevel level_of(const wire::Capture& capture, const elf::Image* kernel,
                                        bool is_torn);
  [[nodiscard]] bool is_beside_kernel(const wire::Capture& capture) const;

  bool no_firmware_;
  bool wants_user_;
  bool seen_in_high_mode_ = false;   // the kernel's own code
  bool seen_in_usual_mode_ = false;  // the same
};

// A mode that firmware and kernels run in.
[[nodiscard]] bool may_be_kernels(const wire::Capture& capture);

// User mode where only a guest's kernel has code.
[[nodiscard]] bool runs_in_upper_half(const wire::Capture& capture);

}  // namespace ringside::session
