#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "guestos/linux/files/guest_file.h"
#include "guestos/linux/types/kernel_reader.h"
#include "guestos/linux/types/linux_types.h"
#include "guestos/process_updates.h"
#include "wire/capture.h"

namespace ringside::guestos {

// A task as it was at a capture.
struct TaskView {
  GuestVirt task;
  std::uint32_t tid = 0;  // task_struct::pid
  std::uint32_t pid = 0;  // task_struct::tgid
  std::string comm;
  // Identity of an address space: its struct mm_struct's address, pgd, exec_vm, start_code and
  // start_stack. Differs from every other one that had the same struct before, and from itself
  // before it mapped other code. The address is 0 in a kernel thread.
  std::array<std::uint64_t, 5> space{};
  // The file that execve() was called with, of the address space; nothing where it was not copied.
  std::optional<FileIdentity> program;
  // User code's, as far as they are known; in kernel mode only.
  std::optional<arch::Registers> user;
  // The task's, in kernel mode.
  std::optional<KernelStack> kernel_stack;

  [[nodiscard]] bool is_kernel_thread() const { return space[0] == 0; }
  // execve() has given it a new address space, and is still mapping its program there.
  [[nodiscard]] bool is_in_exec() const { return space[3] == 0; }
  // Whether the address is on the stack that execve() has given to the process, by the usual limit
  // of its size.
  [[nodiscard]] bool has_on_first_stack(GuestVirt at) const {
    constexpr std::uint64_t kLimit = std::uint64_t{8} << 20;
    return space[4] - at.value < kLimit;
  }
};

// A task as it is now, without `user` and `program`. Errors: as KernelReader has them.
[[nodiscard]] Result<TaskView> read_task(const LinuxTypes& types, const KernelReader& read,
                                         GuestVirt task);

// The task of a capture by its pieces, without `user` and `kernel_stack`. Nothing where
// the task was not copied: user code ran without the kernel in its page tables. `program` is
// nothing where the recipe did not copy it, or where the copies are of different moments.
[[nodiscard]] std::optional<TaskView> copied_task(const LinuxTypes& types,
                                                  const wire::Capture& capture);

// The address of a process's vDSO, by a capture with its struct mm_struct. Nothing where it does
// not matter.
[[nodiscard]] std::optional<GuestVirt> copied_vdso(const LinuxTypes& types,
                                                   const wire::Capture& capture, GuestVirt mm);

}  // namespace ringside::guestos
