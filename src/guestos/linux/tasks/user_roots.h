#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "guestos/guest_memory.h"
#include "guestos/linux/tasks/current_task.h"
#include "guestos/linux/tasks/process_table.h"

namespace ringside::guestos {

// Whether a root that user_root() gives is that of the process whose pgd lies there in physical
// memory: with page-table isolation user code has a table of its own beside the pgd.
[[nodiscard]] bool is_root_of(Arch arch, std::uint64_t root, std::uint64_t pgd);

// Which process runs user code, or comes from it or goes to it, by the root of its page tables: for
// captures that could not copy the task, because with page-table isolation the kernel is not mapped
// then. The process of a root is read from the kernel's memory after the capture, and read again
// each time.
class UserRoots {
 public:
  UserRoots(const LinuxTypes& types, const ProcessFields& fields)
      : types_(types), fields_(fields) {}

  // A task that is alive, to find the others from.
  void remember(GuestVirt task) { any_task_ = task; }
  // In kernel mode only the page tables of user code alone count, unless `is_at_user_code`: a
  // kernel thread runs with those of any process. Nothing where no process has these page tables,
  // or the kernel's memory cannot be read now. The thread is that which `running` is, where a
  // process has several: nothing shows it otherwise, and TaskView::tid is 0. Errors: those of
  // `kernel`.
  [[nodiscard]] Result<std::optional<TaskView>> find(const wire::Capture& capture,
                                                     bool is_at_user_code,
                                                     std::optional<GuestVirt> running,
                                                     GuestSpace& kernel);

 private:
  // A process as it was when it was searched for.
  struct Process {
    std::vector<GuestVirt> threads;  // struct task_struct
    GuestVirt mm;
  };

  using ByRoot = std::unordered_map<std::uint64_t, Process>;  // by pgd, physical

  static constexpr std::size_t kMaxMisses = 4096;

  [[nodiscard]] bool is_due(std::uint64_t root, const wire::Capture& capture);
  [[nodiscard]] Result<void> probe_processes(GuestSpace& kernel);
  [[nodiscard]] ByRoot::const_iterator process_of(std::uint64_t root, bool is_at_user_code) const;
  [[nodiscard]] Result<std::optional<TaskView>> view(const Process& process, std::uint64_t pgd,
                                                     std::optional<GuestVirt> running,
                                                     GuestSpace& kernel) const;

  LinuxTypes types_;
  ProcessFields fields_;
  GuestVirt any_task_;
  ByRoot by_root_;
  // No process has its pgd where one with a table for user code beside it could not be.
  bool has_user_tables_ = false;
  std::unordered_map<std::uint64_t, std::uint32_t> misses_;  // by root, and who has noted it
};

}  // namespace ringside::guestos
