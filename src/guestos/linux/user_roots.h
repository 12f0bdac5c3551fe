#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "guestos/guest_memory.h"
#include "guestos/linux/current_task.h"
#include "guestos/linux/process_table.h"

namespace ringside::guestos {

// Of the page tables that the kernel uses for a process, from the root that user_root() gives or
// its pgd has.
[[nodiscard]] std::uint64_t kernels_root(Arch arch, std::uint64_t root);

// Which process runs user code, by the root of its page tables: for captures that could not copy
// the task, because with page-table isolation the kernel is not mapped while user code runs. What a
// root belongs to is read from the kernel's memory after the capture, and read again each time.
class UserRoots {
 public:
  UserRoots(const LinuxTypes& types, const ProcessFields& fields)
      : types_(types), fields_(fields) {}

  // A task that is alive, to find the others from.
  void remember(GuestVirt task) { any_task_ = task; }
  // Nothing where no process has these page tables, or the kernel's memory cannot be read now. The
  // thread is that which `running` is, where a process has several: nothing tells it otherwise, and
  // TaskView::tid is 0. Errors: those of `memory`.
  [[nodiscard]] Result<std::optional<TaskView>> find(const wire::Capture& capture,
                                                     std::optional<GuestVirt> running,
                                                     GuestMemory& memory);

 private:
  // A process as it was when it was looked for.
  struct Process {
    std::vector<GuestVirt> threads;  // struct task_struct
    GuestVirt mm;
  };

  static constexpr std::size_t kMaxMisses = 4096;

  [[nodiscard]] bool is_worth_a_look(std::uint64_t root);
  [[nodiscard]] Result<void> look_for_processes(GuestMemory& memory);
  [[nodiscard]] Result<std::optional<TaskView>> view(const Process& process, std::uint64_t root,
                                                     std::optional<GuestVirt> running,
                                                     GuestMemory& memory) const;

  LinuxTypes types_;
  ProcessFields fields_;
  GuestVirt any_task_;
  std::unordered_map<std::uint64_t, Process> by_root_;
  std::unordered_map<std::uint64_t, std::uint32_t> misses_;  // by root
};

}  // namespace ringside::guestos
